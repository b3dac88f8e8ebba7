"""A process that runs cases: ``python -m fuzz.campaign.worker TARGET SEED FIRST LAST STEP FOLDER``.

It writes a line of JSON before and after each case, so that who started it knows which one does not end.
"""

import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random

from fuzz.campaign.calls import Argument
from fuzz.campaign.limits import Watch, judged, limit_memory
from fuzz.campaign.targets import TARGETS


def main(arguments: list[str]) -> None:
    """Run the cases FIRST, FIRST + STEP, ... below LAST."""
    name, seed, first, last, step, folder = arguments
    sys.dont_write_bytecode = True
    # What the libraries print is not the protocol's.
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.chdir(folder)
    tempfile.tempdir = folder
    target = (TARGETS | {"argument": Argument})[name](Path(folder))
    watch = Watch(Path(folder))
    limit_memory()
    for number in range(int(first), int(last), int(step)):
        protocol.write(json.dumps({"case": number}) + "\n")
        ended, wrong = judged(partial(target, Random(f"{seed} {name} {number}")), watch)
        protocol.write(json.dumps({"case": number, "ended": ended, "wrong": wrong}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
