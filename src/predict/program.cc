// SPDX-License-Identifier: Apache-2.0
// Judges each slice, GPU operation and thread of a recording once, and computes launch times and self times.
#include "predict/program.h"

#include <algorithm>
#include <map>

#include "analyses/copy_kinds.h"
#include "base/order_statistics.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

constexpr double kPollingShare = 0.9;
constexpr int64_t kFullQueueNs = 30'000, kFullQueueTimes = 6;
constexpr int64_t kMaxUsualLaunchNs = 50'000;  // the only launch of a short program may load its kernel
constexpr std::ptrdiff_t kFewestQueued = 10;   // a queue has room for about 1,000, but recordings may begin late

std::vector<uint8_t> FindThreads(const Trace& trace, bool drop_pollers) {
  struct Use {
    int64_t operators = 0, calls = 0, polls = 0;
  };
  const SliceTable& slices = trace.slices;
  std::vector<Use> uses(trace.threads.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    Use& use = uses[slices.thread[row].value];
    use.operators += slices.category[row] == SliceCategory::kOperator ? 1 : 0;
    use.calls += slices.api[row] != ApiKind::kNone ? 1 : 0;
    use.polls += slices.api[row] == ApiKind::kEventQuery ? 1 : 0;
  }
  std::vector<uint8_t> threads;
  for (const Use& use : uses) {
    const bool polls = use.operators == 0 && use.calls > 0 &&
                       static_cast<double>(use.polls) >= kPollingShare * static_cast<double>(use.calls);
    threads.push_back((use.operators > 0 || use.calls > 0) && !(drop_pollers && polls) ? 1 : 0);
  }
  return threads;
}

// Rows are in the order of their starts. Without a host in the recording a page keeps its place in its stream.
std::vector<OpRole> FindOps(const GpuOpTable& ops, bool host_seen) {
  std::vector<OpRole> roles(ops.size(), OpRole::kQueued);
  std::map<int32_t, int64_t> computes_until;  // by device
  for (uint32_t op = 0; op < ops.size(); ++op) {
    int64_t& until = computes_until.try_emplace(ops.device[op], kAbsent).first->second;
    if (ops.kind[op] == GpuOpKind::kKernel) until = std::max(until, ops.ts_ns[op] + ops.dur_ns[op]);
    if (!MovesOnDemand(ops.copy_kind[op])) continue;
    roles[op] = ops.ts_ns[op] < until ? OpRole::kWithinKernel : host_seen ? OpRole::kTouchedByHost : OpRole::kQueued;
  }
  return roles;
}

// Returns true for names of operators that also cover the waiting of their thread.
bool IsMark(std::string_view name) {
  return IsDataLoadingMark(name) || name.starts_with("Optimizer.") || name.starts_with("ProfilerStep");
}

}  // namespace

ProgramRows FindProgram(const Trace& trace, bool drop_pollers) {
  ProgramRows program{.threads = FindThreads(trace, drop_pollers)};
  const SliceTable& slices = trace.slices;
  program.slices.resize(slices.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const SliceCategory category = slices.category[row];
    const bool repeats =
        category == SliceCategory::kPython || category == SliceCategory::kOverhead || category == SliceCategory::kOther;
    program.slices[row] = program.threads[slices.thread[row].value] != 0 && !repeats ? 1 : 0;
  }
  program.ops = FindOps(trace.gpu_ops, HasHost(program));
  return program;
}

bool HasHost(const ProgramRows& program) {
  return std::find(program.slices.begin(), program.slices.end(), 1) != program.slices.end();
}

bool IsOwnWork(const Trace& trace, uint32_t slice) {
  return trace.slices.category[slice] == SliceCategory::kOperator && !IsMark(trace.Text(trace.slices.name[slice]));
}

std::vector<uint8_t> OwnWork(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> is_mark(trace.strings.size()), own(slices.size());
  for (size_t id = 0; id < is_mark.size(); ++id) is_mark[id] = IsMark(trace.strings[static_cast<StringId>(id)]) ? 1 : 0;
  for (size_t row = 0; row < own.size(); ++row)
    own[row] =
        slices.category[row] == SliceCategory::kOperator && is_mark[static_cast<uint32_t>(slices.name[row])] == 0;
  return own;
}

std::vector<int64_t> OwnTimes(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::vector<int64_t> own(slices.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    own[row] += slices.dur_ns[row];
    if (const SliceId parent = slices.parent[row]; parent.valid()) own[parent.value] -= slices.dur_ns[row];
  }
  return own;
}

std::vector<uint8_t> LoadingSlices(const Trace& trace) {
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> is_mark(trace.strings.size()), loading(slices.size());
  for (size_t id = 0; id < is_mark.size(); ++id)
    is_mark[id] = IsDataLoadingMark(trace.strings[static_cast<StringId>(id)]) ? 1 : 0;
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const SliceId parent = slices.parent[row];
    const bool within = parent.valid() && parent.value < row && loading[parent.value] != 0;
    loading[row] = within || is_mark[static_cast<uint32_t>(slices.name[row])] != 0 ? 1 : 0;
  }
  return loading;
}

int64_t UsualLaunchNs(const Trace& trace) {
  std::vector<int64_t> launches;
  for (uint32_t row = 0; row < trace.slices.size(); ++row)
    if (trace.slices.api[row] == ApiKind::kKernelLaunch) launches.push_back(trace.slices.dur_ns[row]);
  if (launches.empty()) return 0;
  return std::min(NthOf(launches, (launches.size() - 1) / 20), kMaxUsualLaunchNs);
}

LoadingLaunches::LoadingLaunches(const Trace& trace, const ProgramRows& program)
    : dur_ns_(trace.slices.dur_ns), loads_(trace.slices.size()), usual_ns_(UsualLaunchNs(trace)) {
  const SliceTable& slices = trace.slices;
  const GpuOpTable& ops = trace.gpu_ops;
  std::vector<int64_t> launched, begun;
  for (uint32_t op = 0; op < ops.size(); ++op) {
    const SliceId launch = ops.launch[op];
    if (!launch.valid() || program.slices[launch.value] == 0) continue;
    launched.push_back(slices.ts_ns[launch.value]), begun.push_back(ops.ts_ns[op]);
  }
  std::sort(launched.begin(), launched.end()), std::sort(begun.begin(), begun.end());
  const auto before = [](const std::vector<int64_t>& sorted, int64_t ns) {
    return std::lower_bound(sorted.begin(), sorted.end(), ns) - sorted.begin();
  };
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.api[row] != ApiKind::kKernelLaunch || slices.dur_ns[row] <= FullQueueNs(usual_ns_)) continue;
    const int64_t start = slices.ts_ns[row];
    if (before(launched, start) - before(begun, start) < kFewestQueued) loads_[row] = 1;
  }
}

int64_t FullQueueNs(int64_t usual_launch_ns) { return std::max(kFullQueueNs, kFullQueueTimes * usual_launch_ns); }

}  // namespace gapless::internal
