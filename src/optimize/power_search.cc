// SPDX-License-Identifier: Apache-2.0
// Implements the search on the admitted values, with a penalty for what is slower than allowed.
#include "optimize/power_search.h"

#include <algorithm>
#include <cmath>

namespace gapless::internal {
namespace {

constexpr double kGolden = 0.6180339887498949;
constexpr double kTie = 0.002;            // ratios that differ by less are taken as equal
constexpr double kNarrowestShare = 0.04;  // of the range: the curve is flat within
// A limit that is slower than allowed is worse than all that are allowed, the more the slower, so that one minimum
// stays.
constexpr double kNotAllowed = 100;
constexpr double kOfBound = 0.92;   // of the allowed slowdown is made use of: a reading has noise
constexpr size_t kBeforeBound = 3;  // readings from which interpolation may take over
constexpr double kNearBound = 0.1;  // of the allowed slowdown: near enough

}  // namespace

double PowerRange::Nearest(double value) const {
  if (admitted.empty()) return std::round(value);
  const auto above = std::ranges::lower_bound(admitted, value);
  if (above == admitted.end()) return admitted.back();
  if (above == admitted.begin() || *above - value < value - *std::prev(above)) return *above;
  return *std::prev(above);
}

std::optional<double> PowerRange::Between(double value, double below, double above) const {
  if (admitted.empty()) {
    if (above - below < 2) return std::nullopt;
    return std::clamp(std::ceil(value), below + 1, above - 1);
  }
  auto found = std::ranges::lower_bound(admitted, value);
  while (found != admitted.begin() && (found == admitted.end() || *found >= above)) --found;
  while (found != admitted.end() && *found <= below) ++found;
  if (found == admitted.end() || *found >= above) return std::nullopt;
  return *found;
}

double CostRatio(const PowerGoal& goal, double energy, double time, double draw) {
  const double joules = (1 - goal.time_weight) * draw;
  return (joules * energy + goal.time_weight * time) / (joules + goal.time_weight);
}

PowerSearch::PowerSearch(const PowerRange& range, const PowerGoal& goal, size_t most_settings)
    : range_(range), goal_(goal), most_readings_(most_settings - 1), low_(range.low), high_(range.high) {
  first_ = range_.Nearest(high_ - kGolden * (high_ - low_));
  second_ = range_.Nearest(low_ + kGolden * (high_ - low_));
  is_narrow_ = second_ - first_ < 1;
}

bool PowerSearch::IsAllowed(const PowerReading& reading) const {
  return !goal_.most_slowdown || reading.time <= 1 + kOfBound * *goal_.most_slowdown;
}

double PowerSearch::Objective(const PowerReading& reading) const {
  if (!IsAllowed(reading)) return kNotAllowed + reading.time;
  return CostRatio(goal_, reading.energy, reading.time, draw_);
}

const PowerReading* PowerSearch::At(double value) const {
  const auto found = std::ranges::find(readings_, value, &PowerReading::value);
  return found == readings_.end() ? nullptr : &*found;
}

std::optional<double> PowerSearch::Next() const {
  if (readings_.size() >= most_readings_) return std::nullopt;
  if (const auto at_bound = NextAtBound()) return at_bound;
  return NextOfSection();
}

// The upper one comes first: it disturbs the training least.
std::optional<double> PowerSearch::NextOfSection() const {
  if (is_narrow_) return std::nullopt;
  if (asks_lowest_) return range_.low;
  if (At(second_) == nullptr) return second_;
  if (At(first_) == nullptr) return first_;
  return std::nullopt;
}

// Interpolates between the highest limit that is too slow and the lowest above it that is not, where that one is the
// least so far.
std::optional<double> PowerSearch::NextAtBound() const {
  if (!goal_.most_slowdown || readings_.size() < kBeforeBound) return std::nullopt;
  const PowerReading usual{.value = range_.usual};
  const PowerReading *slow = nullptr, *allowed = &usual;
  for (const PowerReading& reading : readings_)
    if (!IsAllowed(reading) && (slow == nullptr || reading.value > slow->value)) slow = &reading;
  if (slow == nullptr) return std::nullopt;
  for (const PowerReading& reading : readings_)
    if (reading.value > slow->value && reading.value < allowed->value) allowed = &reading;
  const auto best = Best();
  if (best && best->value != allowed->value) return std::nullopt;
  const double bound = 1 + kOfBound * *goal_.most_slowdown, room = bound - allowed->time;
  if (room < kNearBound * *goal_.most_slowdown) return std::nullopt;
  const double at = slow->value + (allowed->value - slow->value) * (slow->time - bound) / (slow->time - allowed->time);
  return range_.Between(at, slow->value, allowed->value);
}

void PowerSearch::Add(const PowerReading& reading) {
  readings_.push_back(reading);
  while (!is_narrow_ && !asks_lowest_ && At(first_) != nullptr && At(second_) != nullptr) Narrow();
  asks_lowest_ = asks_lowest_ && At(range_.low) == nullptr;
}

// Drops the part above the second limit, or below the first.
void PowerSearch::Narrow() {
  const double lower = Objective(*At(first_)), upper = Objective(*At(second_));
  if (lower <= upper + kTie) {
    high_ = second_, second_ = first_;
    first_ = range_.Nearest(high_ - kGolden * (high_ - low_));
    asks_lowest_ = low_ == range_.low && At(range_.low) == nullptr;
  } else {
    low_ = first_, first_ = second_;
    second_ = range_.Nearest(low_ + kGolden * (high_ - low_));
  }
  is_narrow_ = high_ - low_ < std::max(4.0, kNarrowestShare * (range_.high - range_.low)) || second_ <= first_;
}

std::optional<PowerReading> PowerSearch::Best() const {
  const auto least = std::ranges::min_element(readings_, {}, [this](const PowerReading& it) { return Objective(it); });
  if (least == readings_.end() || Objective(*least) >= 1) return std::nullopt;
  return *least;
}

}  // namespace gapless::internal
