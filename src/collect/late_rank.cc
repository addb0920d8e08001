// SPDX-License-Identifier: Apache-2.0
#include "collect/late_rank.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kKeptOfRank = 4 * LateRank::kSteps;  // ranks report at different times
constexpr int64_t kLeastPart = 100;                   // of a step: one part in so many counts as later
// Steps that differ from the others by what the recorder or the start of the program does.
constexpr uint16_t kOddSteps = wire::kStepRecorded | wire::kStepInference | wire::kStepFirst;

struct Lead {
  int64_t rank = -1, by_ns = 0;  // -1: nobody
};

// Who has most of something, and how much more than the next.
class Most {
 public:
  void Add(int64_t rank, int64_t value) {
    if (rank_ < 0 || value > first_)
      second_ = rank_ < 0 ? value : first_, first_ = value, rank_ = rank;
    else if (count_ == 1 || value > second_)
      second_ = value;
    ++count_;
  }
  Lead Beyond(int64_t least_ns) const {
    const int64_t by = first_ - second_;
    return count_ > 1 && by > 0 && by >= least_ns ? Lead{rank_, by} : Lead{};
  }

 private:
  int64_t rank_ = -1, first_ = 0, second_ = 0, count_ = 0;
};

int64_t MedianOf(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

// Summed from the largest term down, which is where the tail begins above the mean.
double ChanceOfAtLeast(int64_t hits, int64_t trials, double p) {
  if (hits <= 0) return 1;
  double chance = 0;
  for (int64_t k = hits; k <= trials; ++k) {
    const auto n = static_cast<double>(trials), at = static_cast<double>(k);
    chance += std::exp(std::lgamma(n + 1) - std::lgamma(at + 1) - std::lgamma(n - at + 1) + at * std::log(p) +
                       (n - at) * std::log1p(-p));
  }
  return std::min(1.0, chance);
}

void LateRank::OnStep(int64_t rank, const wire::RingRecord& step) {
  if (rank < 0 || (step.flags & kOddSteps) != 0) return;
  std::map<int64_t, Step>& own = steps_[rank];
  own[step.a] = {wire::SumOf(step.ts_ns, step.dur_ns), std::max<int64_t>(0, wire::WholeOf(step.x)), step.dur_ns};
  if (own.size() > kKeptOfRank) own.erase(own.begin());
}

std::vector<LateRank::Finding> LateRank::Findings() const {
  if (steps_.size() < 2) return {};
  constexpr size_t kSigns = std::size(kLateSigns);
  std::map<int64_t, std::array<std::vector<int64_t>, kSigns>> behind;  // by rank and sign: in each hit
  int64_t steps = 0;
  const auto& [first_rank, of_first] = *steps_.begin();
  for (auto at = of_first.rbegin(); at != of_first.rend() && steps < static_cast<int64_t>(kSteps); ++at) {
    std::array<Most, kSigns> most;
    int64_t longest_ns = 0;
    const bool all = std::ranges::all_of(steps_, [&](const auto& of_rank) {
      const auto step = of_rank.second.find(at->first);
      if (step == of_rank.second.end()) return false;
      most[0].Add(of_rank.first, step->second.end_ns), most[1].Add(of_rank.first, step->second.wait_ns);
      longest_ns = std::max(longest_ns, step->second.dur_ns);
      return true;
    });
    if (!all) continue;
    ++steps;
    for (size_t sign = 0; sign < kSigns; ++sign)
      if (const Lead lead = most[sign].Beyond(longest_ns / kLeastPart); lead.rank >= 0)
        behind[lead.rank][sign].push_back(lead.by_ns);
  }
  if (steps < static_cast<int64_t>(kFewestSteps)) return {};
  std::vector<Finding> findings;
  const double ranks = static_cast<double>(steps_.size()), tests = ranks * kSigns;
  for (const auto& [rank, own] : steps_)
    for (size_t sign = 0; sign < kSigns; ++sign) {
      const std::vector<int64_t>& hits = behind[rank][sign];
      const auto count = static_cast<int64_t>(hits.size());
      findings.push_back({.rank = rank,
                          .sign = kLateSigns[sign],
                          .hits = count,
                          .steps = steps,
                          .behind_ns = MedianOf(hits),
                          .late = ChanceOfAtLeast(count, steps, 1 / ranks) * tests < kFalseAlarms});
    }
  return findings;
}

std::string LateRank::TextOf(const Finding& finding, size_t ranks) {
  return StrCat("rank ", finding.rank,
                finding.sign == LateSign::kStepEnd ? " ends steps last in " : " waits longest for its batch in ",
                finding.hits, " of the last ", finding.steps, ", by ", FormatDuration(finding.behind_ns),
                " in the median (chance: ", finding.steps / static_cast<int64_t>(std::max<size_t>(1, ranks)), ")");
}

}  // namespace gapless::internal
