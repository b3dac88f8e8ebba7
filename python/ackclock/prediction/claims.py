"""Claims of models about links, and what a run says of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ackclock.findings import ENOUGH, Finding, Row, mean
from ackclock.prediction.records import Claim, ModelPrediction, ShareClaim
from ackclock.socket_buffers import limiting_buffer
from ackclock.wording import percent, plural


def confront(model: ModelPrediction, findings: Sequence[Finding], flows: Sequence[Row] = ()) -> ModelPrediction:
    """Say after each claim that the run refutes what it showed instead.

    Parameters
    ----------
    model : ModelPrediction
        A prediction for the scenario that was run.
    findings : sequence of Finding
        The run's findings.
    flows : sequence of mapping
        The summary's rows of flows.

    Returns
    -------
    ModelPrediction
        The same, with other sentences where the run refutes one.
    """
    corrected = {claim.text: said for claim in model.claims for said in _corrected(claim, findings, flows)}
    if not corrected:
        return model
    return replace(model, sentences=tuple(corrected.get(text, text) for text in model.sentences))


def _corrected(claim: Claim | ShareClaim, findings: Sequence[Finding], flows: Sequence[Row]) -> Iterator[str]:
    """Give a claim with what the run showed instead, if the run refutes it."""
    if isinstance(claim, ShareClaim):
        rows = [row for row in flows if row["name"] in claim.measured.names]
        share = sum(mean(row, claim.measured.key) for row in rows) / claim.rate_bps
        if rows and abs(share - claim.share) > claim.tolerance:
            yield f"{claim.text}, says the model; in this run the share was {percent(share)}"
        return
    used = _utilisations(findings)
    if claim.link not in used:
        return
    limits = [one for one in findings if one.kind in {"buffer-limit", "window-limit"} and _is_of(one, claim.flows)]
    if limits and used[claim.link] < ENOUGH:
        by, more = _limit(limits[0]), len(limits) - 1
        others = f" and {plural(more, 'other flow')}" if more else ""
        yield (
            f"{claim.text}, says the model, in which losses limit the flow; in this run {by} limits "
            f"{limits[0].element}{others}, and the utilisation of {claim.link} was {percent(used[claim.link])}"
        )
    elif claim.stays_busy != (used[claim.link] >= ENOUGH):
        was = f"the utilisation of {claim.link} was {percent(used[claim.link])}"
        yield f"{claim.text}, says the model; in this run {was}"


def _utilisations(findings: Sequence[Finding]) -> Mapping[str, float]:
    return {
        one.element: one.numbers["utilisation_fraction"] for one in findings if "utilisation_fraction" in one.numbers
    }


def _is_of(finding: Finding, flows: Sequence[str]) -> bool:
    """Return whether a finding is about one of some flows, or of the flows of a group."""
    return finding.element in flows or finding.element.rpartition("[")[0] in flows


def _limit(finding: Finding) -> str:
    return (
        f"the {limiting_buffer(finding.numbers)} buffer" if finding.kind == "buffer-limit" else "the receiver's window"
    )
