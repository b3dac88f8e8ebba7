"""Effect of the variability of a delay on the throughput under random losses (Altman, Barakat, Ramos 2004)."""

from ackclock.advice.bench import Bench, before_after, of_flows
from ackclock.advice.records import Recommendation, Rule
from ackclock.prediction.random_loss import IN_TIME, predict_random_loss
from ackclock.prediction.records import ModelPrediction
from ackclock.prediction.scene import Scene
from ackclock.wording import amount, bit_rate, seconds

TOPIC = "variable-delay"
QUESTION = "What does the variation of the delay do to the throughput?"
SOURCE = "Altman, Barakat, Ramos 2004"
SLIGHT = 0.02


def advise_variability(bench: Bench, *, simulate: bool) -> Recommendation | None:
    """Say what the variation is worth; None if the model does not apply to the path."""
    resolved = bench.resolved
    found = next(
        (one for one in predict_random_loss(resolved) if isinstance(one, ModelPrediction) and one.model == IN_TIME[0]),
        None,
    )
    if found is None:
        return None
    rates = {number.key: number.value for number in found.numbers}
    if "fixed_bps" not in rates:
        return None
    scene = Scene(resolved, resolved.flows[0])
    gain = rates["markov_bps"] / rates["fixed_bps"] - 1.0
    mean_s = next(number.value for number in found.numbers if number.key == "mean_round_trip_s")
    rules = tuple(
        Rule(name, f"{SOURCE}, {where}", rates[key], "bit/s", valid=valid, reason=reason)
        for key, name, where, valid, reason in (
            (
                "fixed_bps",
                "the round trip fixed at its mean",
                "equation (9)",
                False,
                "leaves the variation out: too low",
            ),
            (
                "variable_bps",
                "round trips independent",
                "equation (9)",
                False,
                "leaves out that long ones come in a row",
            ),
            ("markov_bps", "round trips as a Markov chain", "equation (5)", True, "made for such a delay"),
        )
    )
    recommendation = Recommendation(TOPIC, QUESTION, _answer(gain, rates, mean_s), rules=rules)
    return _checked(bench, scene, mean_s, recommendation) if simulate else recommendation


def _answer(gain: float, rates: dict[str, float], mean_s: float) -> str:
    if gain < SLIGHT:
        return (
            f"Almost nothing here: the mean round trip of {seconds(mean_s)} gives the throughput, "
            f"{bit_rate(rates['markov_bps'])}. Losses come so rarely that the variation averages out"
        )
    return (
        f"It raises it by {amount(gain, '1')}: while the round trip is short the window grows fast, which outweighs "
        f"the rest. The mean round trip of {seconds(mean_s)} alone lets one expect {bit_rate(rates['fixed_bps'])}, not "
        f"{bit_rate(rates['markov_bps'])}; there is nothing to change"
    )


def _checked(bench: Bench, scene: Scene, mean_s: float, plan: Recommendation) -> Recommendation:
    """Simulate the path with a constant delay of the same mean, and as it is."""
    links = (scene.resolved.elements[index] for index in scene.flow.crossed)
    name, process = next((link.name, link.delay_process) for link in links if link.delay_process is not None)
    rest = scene.round_trip_s - process.law.least_s
    constant = {"kind": "steps", "steps": [["0 s", f"{mean_s - rest:.9f} s"]]}
    fixed = bench.run({f"link.{name}.delay_process": constant}, "a constant delay of the same mean")
    varying = bench.run({}, "the delay as it is")
    return Recommendation(
        TOPIC,
        QUESTION,
        plan.answer,
        rules=plan.rules,
        check=(
            before_after("throughput", "bit/s", fixed, varying, of_flows("throughput_bps")),
            before_after("timeouts", "", fixed, varying, of_flows("timeouts")),
        ),
        remarks=("before: a constant delay of the same mean over round trips; after: the delay as it is",),
    )
