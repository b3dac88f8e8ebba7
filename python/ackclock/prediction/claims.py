"""Claims of models about links, and what a run's findings say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ackclock.findings import ENOUGH, Finding
from ackclock.prediction.records import Claim, ModelPrediction
from ackclock.wording import percent


def confront(model: ModelPrediction, findings: Sequence[Finding]) -> ModelPrediction:
    """Say after each claim that the run refutes what it showed instead.

    Parameters
    ----------
    model : ModelPrediction
        A prediction for the scenario that was run.
    findings : sequence of Finding
        The run's findings.

    Returns
    -------
    ModelPrediction
        The same, with other sentences where the run refutes one.
    """
    used = {
        one.element: one.numbers["utilisation_fraction"] for one in findings if "utilisation_fraction" in one.numbers
    }
    refuted = {claim.text: claim for claim in model.claims if _is_refuted(claim, used)}
    if not refuted:
        return model
    said = (_corrected(refuted[text], used) if text in refuted else text for text in model.sentences)
    return replace(model, sentences=tuple(said))


def _is_refuted(claim: Claim, used: Mapping[str, float]) -> bool:
    """Return whether a link that is claimed to stay busy idles, or one that is claimed to idle is busy."""
    if claim.link not in used:
        return False
    return claim.stays_busy != (used[claim.link] >= ENOUGH)


def _corrected(claim: Claim, used: Mapping[str, float]) -> str:
    return f"{claim.text}, says the model; in this run the utilisation of {claim.link} was {percent(used[claim.link])}"
