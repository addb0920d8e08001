// SPDX-License-Identifier: Apache-2.0
// The places at which the host is, by the profile of any tool.
//
// Samples with stacks: each belongs to the innermost frame of the user's code, or the innermost of all, and to what its
// whole stack says is going on: data loading wins over a wait in it, for that wait is the loader's. Profiles without
// stacks (sums by function or line) have the own time of functions, and what the function alone says. Lines count their
// calls in, so lines of two functions may hold the same time: their shares are of the largest function.
#include "analyses/rows/host_code.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/host_waits.h"

namespace gapless::internal::host_code_analysis {
namespace {

constexpr size_t kMaxRows = 200;  // rows per trace

struct Place {
  std::string_view activity{};
  StringId function = StringId::kNone, file = StringId::kNone;
  int64_t line = kAbsent;
  bool is_users = false;
  auto operator<=>(const Place&) const = default;
};
struct Sums {
  int64_t samples = 0, time_ns = 0;
};
using Places = std::map<Place, Sums>;

bool IsNative(std::string_view file) {
  return file.find(".so") != file.npos || file.starts_with('[') || file.find("/bin/") != file.npos;
}
bool IsUsers(std::string_view file) { return IsUsersFile(file) && !IsNative(file); }

// The meaning of a stack, by its row: asked once for each.
class Stacks {
 public:
  explicit Stacks(const Trace& trace) : trace_(trace), known_(trace.stacks.size()) {}

  const Place& Of(StackId stack) {
    Place& place = known_[stack.value];
    if (!place.activity.empty()) return place;
    place.activity = "code";
    const StackTable& stacks = trace_.stacks;
    StackId users{};
    bool waits = false, gpu = false, loads = false;
    for (StackId at = stack; at.valid(); at = stacks.parent[at.value]) {
      const std::string_view function = trace_.Text(stacks.function[at.value]),
                             file = trace_.Text(stacks.file[at.value]);
      waits = waits || (at == stack && IsWaitingCall(function));
      gpu = gpu || IsGpuWait(function, file);
      loads = loads || IsLoading(function, file);
      if (!users.valid() && IsUsers(file)) users = at;
    }
    const StackId at = users.valid() ? users : stack;
    place.function = stacks.function[at.value], place.file = stacks.file[at.value], place.line = stacks.line[at.value];
    place.is_users = users.valid();
    place.activity = loads ? "loading" : gpu ? "gpu_wait" : waits ? "waiting" : "code";
    return place;
  }

 private:
  const Trace& trace_;
  std::vector<Place> known_;
};

Places OfSamples(const Trace& trace) {
  Places places;
  Stacks stacks(trace);
  const SampleTable& samples = trace.samples;
  for (size_t row = 0; row < samples.size(); ++row) {
    Sums& sums = places[stacks.Of(samples.stack[row])];
    sums.samples += samples.count[row] == kAbsent ? 1 : samples.count[row];
    sums.time_ns += samples.weight_ns[row] == kAbsent ? 0 : samples.weight_ns[row];
  }
  return places;
}

// The innermost frame is the kernel; what called it is in the stack.
Places OfKernels(const Trace& trace) {
  Places places;
  for (size_t row = 0; row < trace.samples.size(); ++row) {
    const uint32_t stack = trace.samples.stack[row].value;
    Sums& sums = places[{.activity = "kernel", .function = trace.stacks.function[stack]}];
    sums.time_ns += trace.samples.weight_ns[row] == kAbsent ? 0 : trace.samples.weight_ns[row];
  }
  return places;
}

Places OfFunctions(const Trace& trace, bool lines) {
  Places places;
  const HostFunctionTable& rows = trace.host_functions;
  for (size_t row = 0; row < rows.size(); ++row) {
    if ((rows.function[row] == StringId::kNone) != lines || rows.self_ns[row] == kAbsent) continue;
    const std::string_view function = trace.Text(rows.function[row]), file = trace.Text(rows.file[row]);
    const bool built_in = !file.empty() && file != "~" ? false : true;
    Place place{.activity = "code", .function = rows.function[row], .file = rows.file[row], .line = rows.line[row]};
    if (IsGpuWait(function, file)) place.activity = "gpu_wait";
    if (built_in && IsWaitingCall(function)) place.activity = "waiting";
    if (!lines && IsLoading(function, file)) place.activity = "loading";
    place.is_users = IsUsers(file);
    places[place].time_ns += rows.self_ns[row];
  }
  return places;
}

// The whole that all shares are of. Lines of line_profiler contain what they call, so their largest function stands for
// all.
int64_t WholeOf(const Trace& trace, const Places& places, bool timed, bool nested) {
  int64_t whole = 0;
  if (nested) {
    for (size_t row = 0; row < trace.host_functions.size(); ++row)
      if (trace.host_functions.function[row] != StringId::kNone)
        whole = std::max(whole, trace.host_functions.total_ns[row]);
    return whole;
  }
  for (const auto& [place, sums] : places) whole += timed ? sums.time_ns : sums.samples;
  return whole;
}

void AddRows(const RunTrace& of, std::string_view kind, TableOf<HostCodeRows>& table) {
  const Trace& trace = *of.trace;
  const bool sampled = trace.samples.size() > 0, proton = kind == "proton", lines = kind == "lines";
  const Places places = proton    ? OfKernels(trace)
                        : sampled ? OfSamples(trace)
                                  : OfFunctions(trace, lines || kind == "scalene");
  std::vector<std::pair<Place, Sums>> ordered(places.begin(), places.end());
  const bool timed = std::ranges::any_of(ordered, [](const auto& entry) { return entry.second.time_ns > 0; });
  const int64_t whole = WholeOf(trace, places, timed, lines);
  const auto amount = [&](const Sums& sums) { return timed ? sums.time_ns : sums.samples; };
  std::ranges::stable_sort(ordered, std::greater(), [&](const auto& entry) { return amount(entry.second); });
  ordered.resize(std::min(ordered.size(), kMaxRows));
  for (const auto& [place, sums] : ordered) {
    if (amount(sums) <= 0) continue;
    auto row = table.Row(of);
    row.Set("kind", kind.empty() ? std::string_view("sample") : kind)
        .Set("activity", place.activity)
        .Set("function", trace.Text(place.function))
        .Set("file", trace.Text(place.file))
        .Set("line", place.line)
        .Set("is_users", place.is_users)
        .Set("samples", timed || !sampled ? kAbsent : sums.samples)
        .Set("time_ns", timed ? sums.time_ns : kAbsent);
    if (whole > 0) row.Set("share", std::min(1.0, ShareOf(amount(sums), whole)));
  }
}

bool IsOfMemory(std::string_view kind) {
  return kind == "tracemalloc" || kind == "memray" || kind == "memory_profiler";
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<HostCodeRows> table;
  for (const RunTrace& of : run.traces()) {
    if (!of.counts() || of.trace->host_functions.size() + of.trace->samples.size() == 0) continue;
    const std::string_view kind = PythonProfileKind(*of.trace);
    if (!IsOfMemory(kind)) AddRows(of, kind, table);
  }
  return table;
}

}  // namespace

ANALYSIS(host_code) = AnalysisOf<HostCodeRows>({.run = Compute});

}  // namespace gapless::internal::host_code_analysis
