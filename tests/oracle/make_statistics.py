#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/oracle/statistics.txt: inputs, and what SciPy and statsmodels answer. Run it where both are installed:

    make_statistics.py > tests/oracle/statistics.txt

A line is a name, then groups of numbers, all separated by tabs; the last group is the answer. An answer that does not exist is "nan".
The numbers are the shortest decimals that read back equal.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import scipy
import statsmodels.api
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

Sample = Sequence[float]


def emit(name: str, *groups: Sample) -> None:
    if name.startswith(("power", "mde")) and math.isnan(groups[-1][0]):
        return  # SciPy's noncentral t gives up far out
    print("\t".join([name, *(" ".join(repr(float(x)) for x in group) for group in groups)]))


def samples() -> list[list[float]]:
    """Small and large, tied, shifted far, tiny, skewed."""
    random = np.random.default_rng(7)
    out: list[list[float]] = [[1.0, 2.0], [3.0, 1.0, 2.0], [5.0, 5.0, 7.0, 1.0]]
    for n in (5, 6, 7, 8, 9, 12, 20, 51, 80):
        out.append(np.round(random.normal(10, 2, n), 3).tolist())
    out.append(np.round(random.lognormal(0, 0.5, 15), 4).tolist())
    out.append(np.round(random.normal(3, 2, 30)).tolist())  # many ties
    out.append((1e9 + np.round(random.normal(0, 1, 12), 2)).tolist())
    out.append((1e-9 * np.round(random.normal(5, 1, 10), 3)).tolist())
    out.append((1e150 * np.round(random.normal(5, 1, 6), 3)).tolist())
    return out


def summaries(all_samples: list[list[float]]) -> None:
    for x in all_samples:
        a = np.array(x)
        emit("mean", x, [math.fsum(x) / len(x)])
        emit("sd", x, [statistics.stdev(x)])
        emit("median", x, [np.median(a)])
        emit("mad", x, [stats.median_abs_deviation(a, scale="normal")])
        for p in (0.0, 0.05, 0.33, 0.9, 1.0):
            emit("quantile", x, [p], [np.quantile(a, p)])


def two_samples(all_samples: list[list[float]]) -> None:
    ordinary = [x for x in all_samples if 1e-3 < max(map(abs, x)) < 1e3]
    random = np.random.default_rng(11)
    pairs = list(zip(ordinary, ordinary[1:])) + [(x, (np.array(x) * 1.1 + 0.05).tolist()) for x in ordinary]
    pairs += [(x, random.normal(11, 3, m).tolist()) for x, m in zip(ordinary, (3, 8, 8, 9, 200, 2, 30))]
    pairs += [([1.0], [2.0, 3.0]), ([4.0], [2.0, 3.0, 5.0]), ([1.0, 1.0, 1.0], [1.0, 1.0]), ([1.0, 2.0], [1e6, 2e6])]
    for x, y in pairs:
        if len(x) > 1 and len(y) > 1 and np.var(x) + np.var(y) > 0:
            t = stats.ttest_ind(x, y, equal_var=False)
            interval = t.confidence_interval(0.95)
            emit("welch", x, y, [t.statistic, t.df, t.pvalue, interval.low, interval.high])
        u = stats.mannwhitneyu(x, y, method="auto", alternative="two-sided")
        emit("mannwhitney", x, y, [u.statistic, u.pvalue])
        emit("shift2", x, y, [np.median(np.subtract.outer(x, y))])


def has_ties_or_zeros(d: Sample) -> bool:
    sizes = np.abs(d)
    return bool((sizes == 0).any()) or len(np.unique(sizes)) < len(sizes)


def differences(all_samples: list[list[float]]) -> None:
    random = np.random.default_rng(13)
    cases = [(np.array(x) - np.median(x) + 0.1).tolist() for x in all_samples if max(map(abs, x)) < 1e3]
    cases += [np.round(random.normal(0.3, 1, n), 4).tolist() for n in (1, 2, 5, 6, 10, 25, 49, 50, 51, 120)]
    cases += [np.round(random.normal(0.3, 1, n)).tolist() for n in (8, 20, 60)]  # ties and zeros
    for d in cases:
        exact = len(d) <= 50 and not has_ties_or_zeros(d)
        w = stats.wilcoxon(d, zero_method="wilcox", method="exact" if exact else "asymptotic", correction=False)
        emit("signedrank", d, [w.statistic, w.pvalue])
        walsh = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(d, 2)]
        emit("shift1", d, [np.median(walsh)])


def distributions() -> None:
    grid: list[tuple[str, Callable[..., float], list[list[float]]]] = [
        ("normalcdf", stats.norm.cdf, [[z] for z in (-37, -8, -1.5, 0, 0.3, 6)]),
        ("normaltail", stats.norm.sf, [[z] for z in (-3, 0, 8, 37)]),
        ("normalquantile", stats.norm.ppf, [[p] for p in (1e-300, 1e-12, 0.025, 0.5, 0.999)]),
        ("studentcdf", stats.t.cdf, [[t, df] for t in (-50, -2.5, 0, 1) for df in (1, 2.7, 30, 1e5)]),
        ("studenttail", stats.t.sf, [[t, df] for t in (0.5, 40) for df in (1, 4.4, 200)]),
        ("studentquantile", stats.t.ppf, [[p, df] for p in (1e-6, 0.3, 0.975) for df in (1, 3.3, 50, 1e6)]),
        ("binomialcdf", stats.binom.cdf, [[k, n, p] for k, n in ((0, 1), (3, 10), (480, 1000)) for p in (0.5, 0.02)]),
        ("betacdf", stats.beta.cdf, [[x, a, b] for x in (0.01, 0.5, 0.98) for a in (0.3, 2, 50) for b in (1, 7.5)]),
    ]
    for name, function, arguments in grid:
        for a in arguments:
            emit(name, a, [function(*a)])


def least_effect(power_of: Callable[..., float], n: int, wanted: float) -> float:
    """Bisects, since statsmodels' own solver stops early; where SciPy's noncentral t gives up the power is 1."""
    low, high = 0.0, 5.0
    while high - low > 1e-14:
        middle = (low + high) / 2
        if power_of(middle, n, 0.05) < wanted:
            low = middle
        else:
            high = middle
    return high


def power() -> None:
    for effect, n, level in itertools.product((0.2, 0.5, 1.0, 3.0), (3, 10, 30, 200), (0.05, 0.01)):
        emit("power1", [effect, n, level], [TTestPower().power(effect, n, level)])
        emit("power2", [effect, n, level], [TTestIndPower().power(effect, n, level)])
    for n, wanted in itertools.product((5, 10, 64, 500), (0.8, 0.95)):
        for name, solver in (("mde1", TTestPower()), ("mde2", TTestIndPower())):
            emit(name, [n, wanted], [least_effect(solver.power, n, wanted)])


def dependence() -> None:
    random = np.random.default_rng(19)
    for n, phi in ((20, 0.0), (50, 0.5), (100, 0.9), (200, -0.4)):
        x = np.zeros(n)
        for i in range(1, n):
            x[i] = phi * x[i - 1] + random.normal()
        x = np.round(x, 4)
        emit("acf", x, statsmodels.api.tsa.acf(x, nlags=8, fft=False))
        # The variance of the mean of a regression on a constant, times n: statsmodels' HAC has whole bandwidths of maxlags + 1.
        for lags in (0, 3, 10):
            fit = statsmodels.api.OLS(x, np.ones(n)).fit(
                cov_type="HAC", cov_kwds={"maxlags": lags, "use_correction": False}
            )
            emit("longrun", x, [lags + 1], [n * fit.cov_params()[0][0]])


def main() -> None:
    print(
        f"# SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}: written by tests/oracle/make_statistics.py"
    )
    all_samples = samples()
    distributions()
    summaries(all_samples)
    two_samples(all_samples)
    differences(all_samples)
    power()
    dependence()


if __name__ == "__main__":
    main()
