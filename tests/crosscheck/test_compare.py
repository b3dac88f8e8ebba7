from crosscheck.compare import Change, compare, normalise

RISE = [Change(1.0, 2.0), Change(1.5, 3.0), Change(2.0, 4.0), Change(2.5, 4.25), Change(3.0, 1.0)]
END = 10.0


def test_equal_lists_pass_and_all_changes_count() -> None:
    verdict = compare(RISE, list(RISE))
    assert verdict.passed
    assert verdict.compared == 5
    assert verdict.worst_time_s == 0.0


def test_the_largest_difference_of_times_is_told() -> None:
    ours = [change._replace(time_s=change.time_s + 1e-9 * number) for number, change in enumerate(RISE)]
    verdict = compare(RISE, ours)
    assert verdict.passed
    assert 3.9e-9 < verdict.worst_time_s < 4.1e-9


def test_more_than_a_microsecond_apart_fails() -> None:
    ours = [*RISE[:-1], RISE[-1]._replace(time_s=3.0 + 1.1e-6)]
    verdict = compare(RISE, ours)
    assert not verdict.passed
    assert verdict.compared == 4


def test_a_value_off_by_more_than_a_millionth_fails() -> None:
    near, far = RISE[3]._replace(cwnd=4.25 * (1 + 5e-7)), RISE[3]._replace(cwnd=4.25 * (1 + 2e-6))
    assert compare(RISE, [*RISE[:3], near, RISE[4]]).passed
    assert compare(RISE, [*RISE[:3], far, RISE[4]]).compared == 3


def test_a_value_printed_with_few_digits_is_taken_as_it_was_printed() -> None:
    theirs = [Change(1.0, 153.424, resolution=0.0005)]
    assert compare(theirs, [Change(1.0, 153.42449)]).passed
    assert not compare(theirs, [Change(1.0, 153.4252)]).passed


def test_swapped_values_fail() -> None:
    assert not compare(RISE, [RISE[0], RISE[2], RISE[1], *RISE[3:]]).passed


def test_a_missing_change_fails_where_it_is_missing() -> None:
    assert compare(RISE, RISE[:-1]).compared == 4
    assert compare(RISE[:-1], RISE).compared == 4


def test_the_first_difference_comes_with_three_changes_before_it_on_both_sides() -> None:
    difference = compare(RISE, RISE[:-1]).difference
    assert difference is not None
    first, *rows = difference.splitlines()
    assert first == "first difference at change 5 (ns-2 has 5 changes, ackclock 4)"
    assert [row.split()[0] for row in rows] == ["2", "3", "4", ">"]
    assert rows[0].count("3.000000") == 2
    assert "nothing" in rows[-1]


def test_rows_that_do_not_change_the_window_are_left_out() -> None:
    rows = [Change(0.0, 1.0), Change(1.0, 2.0), Change(1.2, 2.0), Change(1.5, 3.0)]
    assert [change.time_s for change in normalise(rows, 1.0, END)] == [1.0, 1.5]


def test_few_digits_that_look_the_same_are_two_changes() -> None:
    rows = [Change(1.0, 2000.12, resolution=0.005), Change(1.1, 2000.12, resolution=0.005)]
    assert normalise(rows, 1.0, END) == rows


def test_different_values_at_one_instant_all_stay() -> None:
    rows = [Change(1.0, 2.0), Change(1.0, 3.0)]
    assert normalise(rows, 1.0, END) == rows


def test_a_window_below_one_that_is_raised_at_once_is_no_change() -> None:
    rows = [Change(1.0, 5.0), Change(2.0, -3.0), Change(2.0, 1.0), Change(3.0, 0.5), Change(4.0, 1.0)]
    assert normalise(rows, 1.0, END) == [rows[0], *rows[2:]]


def test_a_floor_put_on_a_window_of_one_is_no_change() -> None:
    rows = [Change(1.0, 2.0), Change(2.0, 1.0), Change(3.0, -1.0), Change(3.0, 1.0, resolution=5e-6)]
    assert normalise(rows, 1.0, END) == rows[:2]


def test_what_happens_at_the_very_end_is_left_out() -> None:
    rows = [Change(1.0, 2.0), Change(END - 5e-7, 3.0)]
    assert normalise(rows, 1.0, END) == rows[:1]
