"""The campaign: `make campaign RUNS=5000 SEED=1`. Exit status 1 if an oracle found a fault."""

import argparse
import multiprocessing
import os
import sys
import time

from campaign.examine import Report, examine

LINE_EVERY_S = 60.0


def main() -> None:
    """Run the numbers, print each fault as it is found, and at the end how many there were."""
    asked = argparse.ArgumentParser(prog="campaign", description=__doc__)
    asked.add_argument("--runs", type=int, default=1000, help="how many scenarios")
    asked.add_argument("--first", type=int, default=0, help="number of the first one; the same number is the same run")
    asked.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    given = asked.parse_args()
    numbers = range(given.first, given.first + given.runs)
    started, line = time.monotonic(), time.monotonic()
    done: list[Report] = []
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=200) as pool:
        for report in pool.imap_unordered(examine, numbers):
            done.append(report)
            for fault in report.faults:
                sys.stdout.write(f"number {report.number} ({report.title}): {fault}\n")
                sys.stdout.flush()
            if time.monotonic() - line > LINE_EVERY_S:
                line = time.monotonic()
                sys.stderr.write(f"{len(done)} of {given.runs} after {line - started:.0f} s\n")
    sys.stdout.write(f"{summary(done, time.monotonic() - started)}\n")
    sys.exit(any(report.faults for report in done))


def summary(done: list[Report], seconds: float) -> str:
    """Say how many runs there were, what they cost, and how many had faults."""
    faulty = sum(bool(report.faults) for report in done)
    slowest, largest = max(done, key=lambda one: one.seconds), max(done, key=lambda one: one.peak_bytes)
    return (
        f"{len(done)} scenarios, {sum(report.packets for report in done):,} packets, {seconds:.0f} s: "
        f"{faulty} with faults; the slowest took {slowest.seconds:.1f} s (number {slowest.number}), the largest "
        f"{largest.peak_bytes / 1e6:.0f} MB (number {largest.number})"
    )


if __name__ == "__main__":
    main()
