// SPDX-License-Identifier: Apache-2.0
// A number that a command prints at its end and that a change must keep (--metric NAME=REGEX): reads the option, and
// compares runs with and without the change.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "trial/run_sample.h"
#include "validate/metric_change.h"

namespace gapless::internal {

struct MetricOption {
  std::string name{}, pattern{};
};
// Splits "NAME=REGEX" at the first equals sign, because the expression may hold more of them.
Result<MetricOption> ParseMetric(const std::string& text);

// Refuses a run of the unchanged command that printed no number: the pattern is wrong, or the program.
Result<void> CheckPrinted(const RunSample& sample);

// RunSample::metric of runs with and without a change. `beside`: the other runs of the pairs that `with` is from, in
// the same order; empty: `with` is of no pairs.
struct MetricRuns {
  std::span<const RunSample> without{}, with{}, beside{};
};
// Compares them (validate/metric_change.h); pairs where there are enough. Absent: no number was printed to compare.
std::optional<MetricChange> ChangeOfMetric(const MetricRuns& runs, bool exact);
// Returns why it is another result, in words; empty if it is the same. A run that lacks it is another result where all
// runs without the change print it.
std::string MetricObjection(const MetricRuns& runs, const std::optional<MetricChange>& change);

}  // namespace gapless::internal
