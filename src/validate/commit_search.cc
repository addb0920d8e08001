// SPDX-License-Identifier: Apache-2.0
// Implements the search as Bayesian inference on a grid of levels: each run updates the probability of every commit
// being the first bad one. The noise has heavy tails, so that an outlier decides nothing.
#include "validate/commit_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kEndRuns = 3;      // runs of each end before the search begins
constexpr double kOpenNone = 0.01;  // above it the ends are run again: levels that are known well shorten the rest
constexpr double kMaxChange = 0.5;  // maximum change under the prior, as a logarithm; wider when the runs are
constexpr size_t kNoises = 12;      // grid of the noise: from a third of the estimate to four times
constexpr double kMinNoise = 0.33, kMaxNoise = 4;
constexpr double kLevelsPerNoise = 5, kMaxLevels = 400, kNoiseReach = 4;
constexpr double kNegligible = 1e-12;
// Outliers: somewhere between a bit faster and much slower than their level.
constexpr double kOutliers = 0.03, kFastest = -0.1, kSlowest = 0.6;
constexpr double kNever = -std::numeric_limits<double>::infinity();

double LogDensity(double distance, double noise) {
  const double z = distance / noise;
  const double normal = std::exp(-z * z / 2) / (noise * std::sqrt(2 * std::numbers::pi));
  const double outlier = distance > kFastest && distance < kSlowest ? kOutliers / (kSlowest - kFastest) : 1e-6;
  return std::log((1 - kOutliers) * normal + outlier);
}

// exp(log) without its scale, which is returned.
double Unscale(std::span<const double> logs, std::vector<double>& values) {
  const double highest = *std::max_element(logs.begin(), logs.end());
  values.resize(logs.size());
  std::transform(logs.begin(), logs.end(), values.begin(), [&](double log) { return std::exp(log - highest); });
  return highest;
}

// The first and the last of the values, of which the highest is 1, that are not negligible.
std::pair<size_t, size_t> Weighty(const std::vector<double>& values) {
  const auto counts = [](double value) { return value > kNegligible; };
  const auto first = std::find_if(values.begin(), values.end(), counts);
  const auto last = std::find_if(values.rbegin(), values.rend(), counts);
  return {static_cast<size_t>(first - values.begin()), static_cast<size_t>(values.rend() - last) - 1};
}

double LogSum(std::span<const double> logs) {
  const double highest = *std::max_element(logs.begin(), logs.end());
  if (highest == kNever) return kNever;
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - highest);
  return highest + std::log(sum);
}

}  // namespace

CommitSearch::CommitSearch(size_t commits, const CommitSearchOptions& options) : options_(options), commits_(commits) {}

void CommitSearch::Add(size_t commit, double log_time) {
  times_[commit].push_back(log_time);
  ++runs_;
  Think();
}

void CommitSearch::Skip(size_t commit) {
  skipped_.insert(commit);
  Think();
}

// Ends first; then the posterior, what follows from it, and where to look next.
void CommitSearch::Think() {
  const size_t good = times_[0].size(), bad = times_[commits_ - 1].size();
  if (std::min(good, bad) < kEndRuns) {
    next_ = good <= bad ? 0 : commits_ - 1;
    return;
  }
  MakeGrid();
  const std::vector<Gap> gaps = Gaps();
  FindBest(gaps);
  if (none_ >= options_.confidence) {
    state_ = SearchState::kNoChange;
  } else if (best_.probability * (1 - none_) >= options_.confidence) {
    state_ = SearchState::kFound;
  } else if (runs_ >= options_.most_runs) {
    state_ = SearchState::kCannotTell;
  } else {
    Choose(gaps);
  }
}

// Made anew whenever there are twice as many runs: by then the noise is better known.
void CommitSearch::MakeGrid() {
  std::vector<double> sizes, middles;
  for (const auto& [commit, times] : times_) {
    const double middle = *Median(times), count = static_cast<double>(times.size());
    middles.push_back(middle);
    if (times.size() < 2) continue;
    for (const double time : times) sizes.push_back(std::abs(time - middle) * std::sqrt(count / (count - 1)));
  }
  const auto [lowest, highest] = std::minmax_element(middles.begin(), middles.end());
  const bool covered = !levels_.empty() && *lowest > levels_.front() && *highest < levels_.back();
  if (grid_made_at_ == 0 || runs_ >= 2 * grid_made_at_ || !covered) {
    grid_made_at_ = runs_;
    const double range = *highest - *lowest;
    const double noise = std::max({kMadToSd * *Median(sizes), range * kLevelsPerNoise / kMaxLevels, 1e-6});
    noises_.resize(kNoises);
    for (size_t i = 0; i < kNoises; ++i)
      noises_[i] = noise * kMinNoise * std::pow(kMaxNoise / kMinNoise, static_cast<double>(i) / (kNoises - 1));
    spacing_ = noise / kLevelsPerNoise;
    levels_.clear();
    const auto count = static_cast<size_t>((range + 2 * kNoiseReach * noise) / spacing_) + 1;
    for (size_t i = 0; i < count; ++i)
      levels_.push_back(*lowest - kNoiseReach * noise + static_cast<double>(i) * spacing_);
    tables_.clear();
    least_step_ = std::max<size_t>(1, static_cast<size_t>(std::ceil(std::log1p(options_.least_change) / spacing_)));
  }
  for (const auto& [commit, times] : times_) {
    Logs& logs = tables_[commit];
    if (logs.empty()) logs.assign(noises_.size() * levels_.size() + 1, 0);
    for (auto done = static_cast<size_t>(logs.back()); done < times.size(); ++done) AddTo(logs, times[done]);
  }
}

// The last value counts the runs that are in.
void CommitSearch::AddTo(Logs& logs, double log_time) const {
  size_t at = 0;
  for (const double noise : noises_)
    for (const double level : levels_) logs[at++] += LogDensity(log_time - level, noise);
  logs.back() += 1;
}

// All runs on one level.
double CommitSearch::LogOfOne(const Logs& all) const {
  return LogSum(std::span(all).first(noises_.size() * levels_.size())) + std::log(spacing_);
}

// The runs before on one level, those after on a higher one. Beforehand every size of the change is as likely on a
// logarithmic scale, from the least one that counts to kMaxChange.
double CommitSearch::LogOfTwo(const Logs& before, const Logs& after) const {
  std::vector<double> by_noise, low, high;
  for (size_t noise = 0; noise < noises_.size(); ++noise) {
    const size_t begin = noise * levels_.size();
    const double scale = Unscale(std::span(before).subspan(begin, levels_.size()), low) +
                         Unscale(std::span(after).subspan(begin, levels_.size()), high);
    const auto [low_first, low_last] = Weighty(low);
    const auto [high_first, high_last] = Weighty(high);
    double sum = 0;
    for (size_t level = std::max(high_first, low_first + least_step_); level <= high_last; ++level)
      for (size_t from = low_first; from <= std::min(low_last, level - least_step_); ++from)
        sum += low[from] * high[level] / static_cast<double>(level - from);
    by_noise.push_back(sum > 0 ? scale + std::log(sum) : kNever);
  }
  // One spacing of the prior 1 / (change · log(most / least)) cancels with the change's.
  return LogSum(by_noise) + std::log(spacing_) - std::log(std::log(kMaxChange / std::log1p(options_.least_change)));
}

// Every gap between commits that were run, with the posterior of its places, given a change; sets none_.
std::vector<CommitSearch::Gap> CommitSearch::Gaps() {
  const size_t size = noises_.size() * levels_.size() + 1;
  Logs before(size), after(size);
  for (const auto& [commit, logs] : tables_)
    for (size_t i = 0; i < size; ++i) after[i] += logs[i];
  const double one = LogOfOne(after) + std::log(options_.none_share);
  std::vector<Gap> gaps;
  std::vector<double> logs{};
  for (auto it = tables_.begin(); std::next(it) != tables_.end(); ++it) {
    for (size_t i = 0; i < size; ++i) {
      before[i] += it->second[i];
      after[i] -= it->second[i];
    }
    const size_t until = std::next(it)->first;
    const double places = static_cast<double>(until - it->first) / static_cast<double>(commits_ - 1);
    gaps.push_back({it->first, until, 0});
    logs.push_back(LogOfTwo(before, after) + std::log(places * (1 - options_.none_share)));
  }
  const double change = LogSum(logs);
  for (size_t i = 0; i < gaps.size(); ++i) gaps[i].probability = std::exp(logs[i] - change);
  none_ = 1 / (1 + std::exp(change - one));
  return gaps;
}

void CommitSearch::FindBest(const std::vector<Gap>& gaps) {
  best_ = {};
  for (const Gap& gap : gaps) {
    const auto untried =
        static_cast<size_t>(std::distance(skipped_.upper_bound(gap.after), skipped_.lower_bound(gap.until)));
    // Commits that can still be run distinguish the places: then a place is one commit.
    const bool closed = untried + 1 == gap.until - gap.after;
    const double probability = closed ? gap.probability : gap.probability / static_cast<double>(gap.until - gap.after);
    if (probability <= best_.probability) continue;
    best_ = {closed ? gap.after + 1 : gap.until, gap.until, probability};
    std::vector<double> good, bad;
    for (const auto& [commit, times] : times_)
      (commit <= gap.after ? good : bad).insert((commit <= gap.after ? good : bad).end(), times.begin(), times.end());
    ratio_ = std::exp(*Median(bad) - *Median(good));
  }
}

// Picks the next commit: an end while "no change" is plausible, else the one whose probability of being bad is nearest
// 0.5; of equals the one with fewer runs.
void CommitSearch::Choose(const std::vector<Gap>& gaps) {
  const auto count = [&](size_t commit) {
    const auto found = times_.find(commit);
    return found == times_.end() ? 0 : found->second.size();
  };
  if (none_ > kOpenNone) {
    next_ = count(0) <= count(commits_ - 1) ? 0 : commits_ - 1;
    return;
  }
  double least = 2;
  const auto consider = [&](size_t commit, double bad) {
    const double off = std::abs(bad - 0.5);
    if (skipped_.contains(commit) || off > least + 1e-9) return;
    if (off > least - 1e-9 && count(commit) >= count(next_)) return;
    least = off;
    next_ = commit;
  };
  double sum = 0;
  for (const Gap& gap : gaps) {
    const auto places = static_cast<double>(gap.until - gap.after);
    const double wanted = (0.5 - sum) / std::max(gap.probability, 1e-300) * places;
    const size_t place = IndexAt(wanted, gap.until - gap.after);
    for (size_t commit = gap.after + place; commit <= std::min(gap.after + place + 1, gap.until); ++commit)
      consider(commit, sum + gap.probability * static_cast<double>(commit - gap.after) / places);
    // Neighbours of a commit that cannot be run.
    for (size_t commit = gap.after + place; skipped_.contains(commit) && commit < gap.until; ++commit)
      consider(commit + 1, sum + gap.probability * static_cast<double>(commit + 1 - gap.after) / places);
    for (size_t commit = gap.after + place; skipped_.contains(commit) && commit > gap.after; --commit)
      consider(commit - 1, sum + gap.probability * static_cast<double>(commit - 1 - gap.after) / places);
    sum += gap.probability;
  }
}

}  // namespace gapless::internal
