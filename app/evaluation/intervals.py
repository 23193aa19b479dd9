"""Confidence intervals by the bootstrap: how far a share may be off, question by question. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def mean(values: NDArray[np.float64]) -> Estimate:
    """Estimate the mean of one value a question (percentile bootstrap, Efron 1979).

    :param values: shape (questions,); a paired difference of two settings is estimated likewise.
    :raises ValueError: if there are none.
    """
    if not len(values):
        raise ValueError("there is nothing to estimate from")
    draws = np.random.default_rng(SEED).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return Estimate(float(values.mean()), float(low), float(high))
