// SPDX-License-Identifier: Apache-2.0
// Values that a profiler of kernels measured of each launch, by the names of its counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

// The numbers of one launch. Names belong to the trace.
class LaunchCounters {
 public:
  // Keeps the first of several values of a name.
  void Set(std::string_view name, double value) { values_.try_emplace(name, value); }
  std::optional<double> Get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::map<std::string_view, double>& all() const { return values_; }

 private:
  std::map<std::string_view, double> values_;
};

struct MeasuredLaunch {
  int64_t index = 0;  // launch_index of kernel_metric
  std::string_view kernel{};
  LaunchCounters counters{};
};

// Returns the measured launches of a trace by their index. Values that are texts are left out.
std::vector<MeasuredLaunch> MeasuredLaunches(const Trace& trace);

}  // namespace gapless::internal
