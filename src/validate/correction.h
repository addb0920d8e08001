// SPDX-License-Identifier: Apache-2.0
// Many questions at once: p-values adjusted so that each can be compared with the wanted rate, in the order they came
// in. Values outside [0, 1], NaN too, are refused.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// Holds the chance of any false alarm, whatever the dependence (Holm 1979).
Result<std::vector<double>> Holm(std::span<const double> p);
// Holds the share of false alarms among alarms, for independent or positively dependent tests (Benjamini and Hochberg
// 1995).
Result<std::vector<double>> BenjaminiHochberg(std::span<const double> p);
// The same under any dependence (Benjamini and Yekutieli 2001, theorem 1.3).
Result<std::vector<double>> BenjaminiYekutieli(std::span<const double> p);

// The same for e-values, under any dependence, also when looked at before the end (Wang and Ramdas 2022, definition 2).
// Gives the rate at which each would be rejected: at most alpha means rejected by e-BH at alpha. Negative values and
// NaN are refused; an infinite e-value is certain.
Result<std::vector<double>> EBenjaminiHochberg(std::span<const double> e);

}  // namespace gapless::internal
