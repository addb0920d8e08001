// SPDX-License-Identifier: Apache-2.0
#include "diagnose/gpu_state_view.h"

#include <algorithm>

#include "analyses/rows/gpu_state.h"
#include "base/strings.h"

namespace gapless::internal {

bool HasSamplesOnly(const Run& run) {
  return !run.traces().empty() && std::ranges::all_of(run.traces(), [](const RunTrace& of) {
    const Trace& trace = *of.trace;
    return trace.info.pid == kAbsent && trace.counters.size() > 0 && trace.slices.size() + trace.gpu_ops.size() == 0;
  });
}

std::optional<size_t> WorstGpu(const GpuStateRows& gpus, GpuStateRows::RealColumn column) {
  std::optional<size_t> worst;
  for (size_t row = 0; row < gpus.rows(); ++row) {
    if (gpus.Int(row, "samples") < kFewestGpuSamples || gpus.IsNull(row, column)) continue;
    if (!worst || gpus.Real(row, column) > gpus.Real(*worst, column)) worst = row;
  }
  return worst;
}

int64_t GpusFrom(const GpuStateRows& gpus, GpuStateRows::RealColumn column, double least) {
  int64_t count = 0;
  for (size_t row = 0; row < gpus.rows(); ++row)
    count +=
        gpus.Int(row, "samples") >= kFewestGpuSamples && !gpus.IsNull(row, column) && gpus.Real(row, column) >= least;
  return count;
}

std::string WhichGpus(const GpuStateRows& gpus, GpuStateRows::RealColumn column, double least) {
  const std::optional<size_t> worst = WorstGpu(gpus, column);
  std::string one = worst ? StrCat("GPU ", gpus.Int(*worst, "device")) : std::string();
  const int64_t count = GpusFrom(gpus, column, least);
  if (count < 2) return one;
  return StrCat(FormatCount(count), " of ", FormatCount(static_cast<int64_t>(gpus.rows())), " GPUs, most of all ", one);
}

}  // namespace gapless::internal
