// SPDX-License-Identifier: Apache-2.0
#include "analyses/launch_counters.h"

#include <cmath>

namespace gapless::internal {

std::vector<MeasuredLaunch> MeasuredLaunches(const Trace& trace) {
  const KernelMetricTable& metrics = trace.kernel_metrics;
  std::map<int64_t, MeasuredLaunch> by_index;
  for (size_t row = 0; row < metrics.size(); ++row) {
    MeasuredLaunch& launch = by_index[metrics.launch_index[row]];
    launch.index = metrics.launch_index[row];
    launch.kernel = trace.Text(metrics.kernel_name[row]);
    if (!std::isnan(metrics.value[row])) launch.counters.Set(trace.Text(metrics.metric[row]), metrics.value[row]);
  }
  std::vector<MeasuredLaunch> launches;
  for (auto& [index, launch] : by_index) launches.push_back(std::move(launch));
  return launches;
}

}  // namespace gapless::internal
