// SPDX-License-Identifier: Apache-2.0
// Implements the windows, their pairs, and the order in which limits are set.
#include "optimize/power_blocks.h"

#include <algorithm>
#include <cmath>

#include "validate/distributions.h"
#include "validate/rank_tests.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kPairsEach = 2;  // of a limit, for the search
constexpr size_t kGapsToKnow = 5, kMostGaps = 1000;
constexpr size_t kPairsForRanks = 6;
constexpr double kPowerLevel = 0.95;

RatioInterval IntervalOf(double mean, double half) {
  return {.low = std::exp(mean - half), .high = std::exp(mean + half), .expected = std::exp(mean)};
}

// One of the two lists of each setting.
using PairList = std::vector<double> PowerSetting::*;

RatioInterval RankedRatio(const std::vector<double>& pairs) {
  const auto shift = HodgesLehmann(pairs, kPowerLevel);
  if (!shift) return {};
  RatioInterval ratio{.expected = std::exp(shift->estimate)};
  if (shift->low) ratio.low = std::exp(*shift->low);
  if (shift->high) ratio.high = std::exp(*shift->high);
  return ratio;
}

// The scatter of all settings about their own means: one variance, with a degree of freedom less for each setting.
RatioInterval PooledRatio(const PowerSetting& setting, std::span<const PowerSetting> all, PairList list) {
  const std::vector<double>& pairs = setting.*list;
  double squares = 0, freedom = 0;
  for (const PowerSetting& other : all) {
    if ((other.*list).size() < 2) continue;
    const double mean = *Mean(other.*list);
    for (const double pair : other.*list) squares += (pair - mean) * (pair - mean);
    freedom += static_cast<double>((other.*list).size() - 1);
  }
  const double mean = Mean(pairs).value_or(0);
  if (freedom < 1 || pairs.empty()) return {.expected = std::exp(mean)};
  const double error = std::sqrt(squares / freedom / static_cast<double>(pairs.size()));
  return IntervalOf(mean, StudentQuantile(0.5 + kPowerLevel / 2, freedom) * error);
}

}  // namespace

PowerRatio RatioOf(const PowerSetting& setting, std::span<const PowerSetting> all) {
  const auto ratio = [&](PairList list) {
    const std::vector<double>& pairs = setting.*list;
    return pairs.size() >= kPairsForRanks ? RankedRatio(pairs) : PooledRatio(setting, all, list);
  };
  return {.energy = ratio(&PowerSetting::energy), .time = ratio(&PowerSetting::time)};
}

PowerBlocks::PowerBlocks(const PowerPlan& plan, SetLimit set_limit)
    : plan_(plan),
      set_limit_(std::move(set_limit)),
      search_(plan.range, plan.goal, plan.most_settings),
      counters_(plan.devices),
      limit_(plan.range.usual) {}

void PowerBlocks::BeginProcess() {
  ends_.clear();
  window_ns_.reset();
  before_.reset();
  between_.clear();
  seen_ = 0;
}

void PowerBlocks::AddEnergy(size_t device, int64_t unix_ns, double joules) {
  Counter& counter = counters_[device];
  if (!counter.points.empty() && counter.gaps_s.size() < kMostGaps)
    counter.gaps_s.push_back(static_cast<double>(unix_ns - counter.points.back().first) / 1e9);
  counter.points.emplace_back(unix_ns, joules);
}

void PowerBlocks::AddStep(int64_t begin_unix_ns, int64_t dur_ns) {
  if (++seen_ > plan_.warmup) ends_.push_back(begin_unix_ns + dur_ns);
}

std::optional<double> PowerBlocks::update_s() const {
  double slowest = 0;
  for (const Counter& counter : counters_) {
    if (counter.gaps_s.size() < kGapsToKnow) return std::nullopt;
    slowest = std::max(slowest, *Median(counter.gaps_s));
  }
  return slowest;
}

double PowerBlocks::draw() const {
  const auto joules = usual_joules(), seconds = usual_seconds();
  if (!joules || !seconds || *seconds <= 0) return 1;
  return *joules / *seconds / static_cast<double>(plan_.devices) / plan_.highest_w.value_or(plan_.range.high);
}

std::optional<double> PowerBlocks::usual_joules() const {
  std::vector<double> values;
  for (const Reading& reading : usual_) values.push_back(reading.joules);
  return Median(values);
}

std::optional<double> PowerBlocks::usual_seconds() const {
  std::vector<double> values;
  for (const Reading& reading : usual_) values.push_back(reading.seconds);
  return Median(values);
}

// Until when every counter has been read.
int64_t PowerBlocks::CoveredNs() const {
  int64_t covered = INT64_MAX;
  for (const Counter& counter : counters_)
    covered = std::min(covered, counter.points.empty() ? 0 : counter.points.back().first);
  return covered;
}

// Between two changes of a counter its power is taken as constant.
double PowerBlocks::JoulesAt(int64_t unix_ns) const {
  double joules = 0;
  for (const Counter& counter : counters_) {
    const auto after = std::ranges::lower_bound(counter.points, unix_ns, {}, &std::pair<int64_t, double>::first);
    if (after == counter.points.end()) return NAN;
    if (after == counter.points.begin()) {
      joules += after->second;
      continue;
    }
    const auto before = std::prev(after);
    const double part =
        static_cast<double>(unix_ns - before->first) / static_cast<double>(after->first - before->first);
    joules += before->second + part * (after->second - before->second);
  }
  return joules;
}

void PowerBlocks::Advance(int64_t now_unix_ns) {
  if (!update_s()) return;
  for (int64_t covered = CoveredNs(); !IsDone() && !ends_.empty() && ends_.front() <= covered;) {
    const int64_t end = ends_.front();
    ends_.pop_front();
    Take(end, now_unix_ns);
  }
  const int64_t needed = window_ns_.value_or(ends_.empty() ? CoveredNs() : ends_.front());
  for (Counter& counter : counters_)
    while (counter.points.size() > 2 && counter.points[1].first <= needed) counter.points.pop_front();
}

// A step ended at a moment for which the energy is known.
void PowerBlocks::Take(int64_t step_end_ns, int64_t now_ns) {
  ++steps_;
  if (!window_ns_) {
    if (step_end_ns < set_ns_ + static_cast<int64_t>(plan_.settle_s * 1e9)) return;
    window_ns_ = step_end_ns;
    window_count_ = 0;
    return;
  }
  ++window_count_;
  const double lasted_s = static_cast<double>(step_end_ns - *window_ns_) / 1e9;
  if (window_count_ >= plan_.window_steps && lasted_s >= plan_.window_updates * *update_s())
    CloseWindow(step_end_ns, now_ns);
}

void PowerBlocks::CloseWindow(int64_t end_ns, int64_t now_ns) {
  const auto count = static_cast<double>(window_count_);
  const Reading reading{.joules = (JoulesAt(end_ns) - JoulesAt(*window_ns_)) / count,
                        .seconds = static_cast<double>(end_ns - *window_ns_) / 1e9 / count};
  window_ns_ = end_ns;  // the next one begins here if the limit stays
  window_count_ = 0;
  if (!(reading.joules > 0) || !(reading.seconds > 0)) return;  // a counter that was reset
  if (limit_ != plan_.range.usual) {
    between_.push_back(reading);
    if (between_.size() == kPairsEach) Want(plan_.range.usual, now_ns);
    return;
  }
  usual_.push_back(reading);
  if (before_ && between_.size() == kPairsEach) Paired(reading);
  before_ = reading;
  between_.clear();
  search_.SetDraw(draw());
  NextSetting();
  if (!is_done_) Want(*next_, now_ns);
}

// Both pairs of the limit are there: the first window with the usual one before it, the second with the one after it.
void PowerBlocks::Paired(const Reading& usual) {
  PowerSetting taken{.value = *next_};
  const auto pair = [&](const Reading& with, const Reading& without) {
    taken.energy.push_back(std::log(with.joules / without.joules));
    taken.time.push_back(std::log(with.seconds / without.seconds));
  };
  pair(between_[0], *before_);
  pair(between_[1], usual);
  next_.reset();
  if (IsProving()) {
    proof_.energy.insert(proof_.energy.end(), taken.energy.begin(), taken.energy.end());
    proof_.time.insert(proof_.time.end(), taken.time.begin(), taken.time.end());
    return;
  }
  search_.Add({.value = taken.value, .energy = std::exp(*Mean(taken.energy)), .time = std::exp(*Mean(taken.time))});
  settings_.push_back(std::move(taken));
}

// Chooses the limit to measure next: that of the search, then the chosen one until it has its proof.
void PowerBlocks::NextSetting() {
  if (next_) return;
  if (!IsProving()) next_ = search_.Next();
  if (next_) return;
  if (!IsProving()) {
    const auto best = search_.Best();
    if (best) chosen_ = proof_.value = best->value;
  }
  if (IsProving() && proof_.energy.size() < plan_.proof_pairs)
    next_ = chosen_;
  else
    is_done_ = true;
}

void PowerBlocks::Want(double value, int64_t now_ns) {
  if (value == limit_) return;
  if (auto set = set_limit_(value); !set) {
    error_ = set.error();
    return;
  }
  limit_ = value;
  set_ns_ = now_ns;
  window_ns_.reset();
}

}  // namespace gapless::internal
