// SPDX-License-Identifier: Apache-2.0
// Asks whether the newest runs of a branch agree that its level moved, and what future runs would have to be like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "validate/agreement.h"
#include "validate/gate_branch.h"

namespace gapless::internal {

// It has a copy of the values, in which larger is worse for either direction.
class GateAgreement {
 public:
  GateAgreement(const GateBranch& branch, const GateOptions& options);
  // The same with the values turned over, for improvements.
  GateAgreement Turned() const;

  void Add(double value) { values_.push_back(value); }
  // Was a run of the baseline as bad as this?
  bool HasSeen(double value) const;
  // The newest runs that agree; absent: none do.
  std::optional<size_t> Runs() const { return RunsThatAgree(values_, start_, learned_, options_); }
  // Fresh runs, which were added, agree with the current one, and with those that were suspect before it.
  std::optional<size_t> RunsWithFresh(size_t fresh, size_t suspects) const;
  // The number of newest runs from the likeliest place of the change on: `agreeing` ended it, and it may lie before.
  size_t RunsSinceTheChange(size_t agreeing, double floor_sd) const;

  // Returns how many more runs like the newest would agree; absent: more than twelve.
  std::optional<size_t> MoreRuns() const;
  // Returns how many runs like the smallest change that the verdict would have shown would agree, after its baseline.
  std::optional<size_t> RunsToAlarm(const GateVerdict& verdict) const;
  // The least slowdown, as a share, at which twelve runs that are drawn from the baseline agree four times in five.
  std::optional<double> SeenWithinTwelve() const;

 private:
  // Returns true if twelve runs that are slower by so much agree, in one of many draws.
  bool IsSeen(double share, uint64_t draw) const;

  std::vector<double> values_;
  size_t start_, learned_;
  GateOptions gate_;
  AgreementOptions options_{};
};

}  // namespace gapless::internal
