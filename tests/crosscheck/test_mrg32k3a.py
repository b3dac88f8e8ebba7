import pytest

from crosscheck.mrg32k3a import M2, Mrg32k3a, boot_fraction


def test_the_first_numbers_are_those_of_the_published_generator() -> None:
    random = Mrg32k3a(12345)
    drawn = [random.uniform() for _ in range(4)]
    assert drawn == pytest.approx(
        [0.127011122046577, 0.318527565396794, 0.309186015583270, 0.825846862927114], rel=1e-13
    )


def test_ns2_draws_these_with_its_own_seed() -> None:
    random = Mrg32k3a(1)
    assert [random.uniform(), random.uniform()] == pytest.approx([0.000339577223787, 0.555880715982800], rel=1e-11)


def test_a_ten_thousandth_number_has_no_rounding_in_it() -> None:
    random = Mrg32k3a(M2 - 1)
    numbers = [random.uniform() for _ in range(10_000)]
    assert all(0.0 < number < 1.0 for number in numbers)
    assert sum(numbers) / len(numbers) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("seed", [0, -1, M2])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="seed: out of range"):
        Mrg32k3a(seed)


def test_integers_reach_both_ends() -> None:
    random = Mrg32k3a(5)
    assert {random.integer(2, 4) for _ in range(100)} == {2, 3, 4}


def test_each_agent_draws_when_made_and_again_when_reset() -> None:
    random = Mrg32k3a(7)
    drawn = [random.uniform() for _ in range(6)]
    assert [boot_fraction(agent, agents=3, seed=7) for agent in range(3)] == drawn[3:]


def test_the_only_agent_of_an_unseeded_run() -> None:
    assert boot_fraction() == pytest.approx(0.5558807159828, rel=1e-12)


def test_an_agent_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="agent: out of range; given 1; allowed 0 to 0"):
        boot_fraction(1)
