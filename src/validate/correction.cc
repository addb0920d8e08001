// SPDX-License-Identifier: Apache-2.0
// Implements corrections of p values and e-values for several tests at once. Values outside their range are refused.
#include "validate/correction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/strings.h"

namespace gapless::internal {
namespace {

Result<void> Check(std::span<const double> values, double most) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0 && values[i] <= most)) {
      return Fail(ErrorCode::kInput, StrCat("value ", i, " is not a ", most == 1 ? "p-value" : "e-value"));
    }
  }
  return {};
}

std::vector<size_t> Ascending(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  return order;
}

// Steps up from the greatest p: p * m * factor / rank, never above that of a greater p.
std::vector<double> StepUp(std::span<const double> p, double factor) {
  const auto order = Ascending(p);
  const auto m = static_cast<double>(p.size());
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (size_t rank = order.size(); rank >= 1; --rank) {
    least = std::min(least, p[order[rank - 1]] * m * factor / static_cast<double>(rank));
    adjusted[order[rank - 1]] = least;
  }
  return adjusted;
}

}  // namespace

Result<std::vector<double>> Holm(std::span<const double> p) {
  GAPLESS_TRY(Check(p, 1));
  const auto order = Ascending(p);
  std::vector<double> adjusted(p.size());
  double greatest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    greatest = std::max(greatest, std::min(1.0, p[order[i]] * static_cast<double>(order.size() - i)));
    adjusted[order[i]] = greatest;
  }
  return adjusted;
}

Result<std::vector<double>> BenjaminiHochberg(std::span<const double> p) {
  GAPLESS_TRY(Check(p, 1));
  return StepUp(p, 1);
}

Result<std::vector<double>> BenjaminiYekutieli(std::span<const double> p) {
  GAPLESS_TRY(Check(p, 1));
  double harmonic = 0;
  for (size_t i = 1; i <= p.size(); ++i) harmonic += 1 / static_cast<double>(i);
  return StepUp(p, harmonic);
}

Result<std::vector<double>> EBenjaminiHochberg(std::span<const double> e) {
  GAPLESS_TRY(Check(e, HUGE_VAL));
  // e-BH at alpha is Benjamini and Hochberg at alpha on 1 / e; values above 1 only cap at 1 after the ranks are
  // counted.
  std::vector<double> inverse;
  inverse.reserve(e.size());
  for (const double value : e) inverse.push_back(1 / value);
  return StepUp(inverse, 1);
}

}  // namespace gapless::internal
