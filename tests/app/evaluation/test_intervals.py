"""An interval holds the mean, narrows with more questions, and knows what never differs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.product import mean, means, percent


def test_an_interval_holds_the_mean_and_narrows() -> None:
    few = mean(np.asarray([0.0, 1.0] * 10))
    many = mean(np.asarray([0.0, 1.0] * 500))
    assert few.low < 0.5 < few.high
    assert many.high - many.low < (few.high - few.low) / 5
    assert mean(np.ones(9)).low == 1


def test_it_is_as_wide_as_the_binomial_says() -> None:
    estimate = mean(np.asarray([0.0] * 50 + [1.0] * 50))
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * 0.05, abs=0.01)


def test_columns_are_estimated_from_the_same_resamples() -> None:
    values = np.random.default_rng(1).random((40, 1))
    first, second, difference = means(np.hstack([values, values + 0.25, values - values]))
    assert second.low - first.low == pytest.approx(0.25)
    assert (difference.low, difference.value, difference.high) == (0, 0, 0)
    assert mean(values[:, 0]).low == pytest.approx(first.low)


def test_a_column_is_estimated_from_the_questions_it_measures() -> None:
    values = np.asarray([[1.0, np.nan], [0.0, np.nan], [np.nan, np.nan]] * 20)
    some, none = means(values)
    assert some.value == 0.5
    assert 0.3 < some.low < 0.5 < some.high < 0.7
    assert np.isnan([none.value, none.low, none.high]).all()


def test_nothing_is_estimated_from_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to estimate"):
        mean(np.asarray([]))


@pytest.mark.parametrize(
    ("share", "sign", "shown"),
    [(0.4567, "", "45.7"), (0.1, "+", "+10.0"), (-0.0001, "+", "+0.0"), (-0.02, "", "-2.0")],
)
def test_a_share_in_percent(share: float, sign: str, shown: str) -> None:
    assert percent(share, sign) == shown
