"""The law of losses from its table."""

from ackclock.scenario.resolved_links import (
    BernoulliLoss,
    GilbertElliottLoss,
    LossLaw,
    PacketsLoss,
    PoissonLoss,
    TimesLoss,
)
from ackclock.scenario.schema_links import LOSS_FIELDS, Loss
from ackclock.scenario.tables import check_fields


def loss_law(loss: Loss) -> LossLaw:
    """Turn the table into SI numbers.

    Parameters
    ----------
    loss : Loss
        The table.

    Returns
    -------
    BernoulliLoss, PoissonLoss, GilbertElliottLoss, PacketsLoss or TimesLoss
        What the engine reads.

    Raises
    ------
    TableError
        If it lacks a field of its model, or has one of another.
    """
    check_fields(loss, "model", loss.model, LOSS_FIELDS)
    match loss.model:
        case "bernoulli":
            return BernoulliLoss("bernoulli", loss.probability or 0.0)
        case "poisson":
            return PoissonLoss("poisson", loss.mean_interval or 0.0, loss.void_after)
        case "gilbert-elliott":
            steps = (loss.to_bad or 0.0, loss.to_good or 0.0)
            return GilbertElliottLoss("gilbert-elliott", *steps, loss.loss_in_good, loss.loss_in_bad)
        case "packets":
            return PacketsLoss("packets", loss.packets or ())
        case "times":
            return TimesLoss("times", loss.times or ())
