// SPDX-License-Identifier: Apache-2.0
// Writes the opening lines and next commands that all formats of the report share.
//
// Every function reads the summary, the diagnosis or the table of an analysis, and makes words of it. Names from
// recordings are made printable where a line is meant to be shown as it is (SubjectOf, PathToType, Devices).
#include "report/about.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyses/rows/engine_steps.h"
#include "analyses/rows/memory.h"
#include "analyses/rows/summed_ops.h"
#include "base/strings.h"
#include "diagnose/gpu_state_view.h"
#include "diagnose/run_traits.h"
#include "report/amounts.h"
#include "report/comm_facts.h"
#include "report/layout_text.h"
#include "report/next.h"

namespace gapless::internal {
namespace {

// Returns the path without its last part; "" if the path has one part only.
std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Returns the folder in which all recordings lie, however deep, of an archive its path; "" if they have none in common.
template <class Recordings, class PathOf>
std::string_view CommonFolder(const Recordings& recordings, PathOf path_of) {
  std::string_view common;
  bool first = true;
  for (const auto& of : recordings) {
    std::string_view path = path_of(of);
    const size_t member = path.find("!/");
    path = member != std::string_view::npos ? path.substr(0, member) : FolderOf(path);
    if (first) common = path;
    first = false;
    const auto holds = [&] { return path == common || (path.starts_with(common) && path[common.size()] == '/'); };
    while (!common.empty() && !holds()) common = FolderOf(common);
  }
  return common;
}

// "2 × Tesla V100", one item per kind of device.
std::string Devices(const RunSummary& summary) {
  std::map<std::string, int> counts;
  for (const DeviceBreakdown& device : summary.breakdown) ++counts[device.device_name];
  std::string text;
  for (const auto& [name, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += name.empty() ? StrCat(count, count == 1 ? " GPU" : " GPUs") : StrCat(count, " × ", Printable(name));
  }
  return text.empty() ? "no GPU work" : text;
}

// Returns true if only a summary was given: sums by operator and kernel, without a timeline.
bool IsSummaryOnly(const Run& run) {
  const auto summary = [](const RunTrace& of) {
    const Trace& trace = *of.trace;
    const bool is =
        std::ranges::any_of(trace.environment.key.stored(), [&](StringId key) { return trace.Text(key) == "summary"; });
    return is && trace.slices.size() + trace.gpu_ops.size() == 0;
  };
  return !run.traces().empty() && std::ranges::all_of(run.traces(), summary);
}

// "a summary of 12 kernels and 30 operators or calls", with the time of each side.
std::vector<std::string> SummaryFacts(const Report& report) {
  const auto ops = report.tables.Get<SummedOpsRows>();
  int64_t kernels = 0, calls = 0, device_ns = 0, host_ns = 0;
  for (size_t row = 0; row < ops.rows(); ++row) {
    const bool of_device = ops.Text(row, "side") == "device";
    (of_device ? kernels : calls) += 1;
    (of_device ? device_ns : host_ns) += ops.Int(row, "total_ns");
  }
  std::vector<std::string> facts{StrCat("a summary of ", FormatCounted(kernels, "kernel"), " and ",
                                        FormatCounted(calls, "operator or call", "operators and calls"))};
  if (device_ns > 0) facts.push_back(StrCat(FormatDuration(device_ns), " on the device"));
  if (host_ns > 0) facts.push_back(StrCat(FormatDuration(host_ns), " on the host"));
  return facts;
}

// Returns true if a kernel profiler measured single launches, and nothing shows what the program did between them.
bool IsMetricsOnly(const Run& run) {
  const auto metrics = [](const RunTrace& of) {
    const Trace& trace = *of.trace;
    return trace.kernel_metrics.size() > 0 &&
           trace.slices.size() + trace.gpu_ops.size() + trace.host_functions.size() == 0;
  };
  return !run.traces().empty() && std::ranges::all_of(run.traces(), metrics);
}

// Returns true if only snapshots of an allocator were given.
bool IsMemoryOnly(const Run& run) {
  const auto memory = [](const RunTrace& of) {
    const Trace& trace = *of.trace;
    const bool of_memory = trace.memory_blocks.size() > 0 || trace.info.format == "memory_timeline";
    return of_memory && trace.slices.size() + trace.gpu_ops.size() == 0;
  };
  return !run.traces().empty() && std::ranges::all_of(run.traces(), memory);
}

// Returns true if only a profile of the host's functions was given, which has no timeline.
bool IsHostProfileOnly(const Run& run) {
  const auto profile = [](const RunTrace& of) {
    const Trace& trace = *of.trace;
    return trace.host_functions.size() > 0 && trace.slices.size() + trace.gpu_ops.size() == 0;
  };
  return !run.traces().empty() && std::ranges::all_of(run.traces(), profile);
}

// "a profile of 2,965 functions", with the time or the samples that they took themselves; lines where there are no
// functions.
std::vector<std::string> HostProfileFacts(const Run& run) {
  int64_t functions = 0, lines = 0, self_ns = 0, samples = 0;
  for (const RunTrace& of : run.traces()) {
    const HostFunctionTable& rows = of.trace->host_functions;
    for (size_t row = 0; row < rows.size(); ++row) {
      const bool is_line = rows.function[row] == StringId::kNone;
      ++(is_line ? lines : functions);
      if (is_line) continue;
      if (rows.self_ns[row] != kAbsent) self_ns += rows.self_ns[row];
      if (rows.self_samples[row] != kAbsent) samples += rows.self_samples[row];
    }
  }
  std::vector<std::string> facts{
      StrCat("a profile of ", functions > 0 ? FormatCounted(functions, "function") : FormatCounted(lines, "line"))};
  if (self_ns > 0) facts.push_back(StrCat(FormatDuration(self_ns), " in all"));
  if (samples > 0) facts.push_back(FormatCounted(samples, "sample"));
  return facts;
}

// "memory of 1 GPU", with most that was in use and held.
std::vector<std::string> MemoryFacts(const Report& report) {
  std::set<std::pair<int64_t, int32_t>> devices;
  for (const RunTrace& of : report.run.traces())
    for (const auto* numbers : {&of.trace->memory_blocks.device, &of.trace->memory_events.device})
      for (const int32_t device : *numbers) devices.emplace(of.index, device);
  std::vector<std::string> facts{StrCat("memory of ", FormatCounted(static_cast<int64_t>(devices.size()), "GPU"))};
  int64_t used = 0, held = 0;
  const auto memory = report.tables.Get<MemoryRows>();
  for (size_t row = 0; row < memory.rows(); ++row) {
    if (!memory.IsNull(row, "peak_allocated_bytes")) used = std::max(used, memory.Int(row, "peak_allocated_bytes"));
    if (!memory.IsNull(row, "peak_reserved_bytes")) held = std::max(held, memory.Int(row, "peak_reserved_bytes"));
  }
  if (used > 0) facts.push_back(StrCat(FormatBytes(used), " in use at the peak"));
  if (held > 0) facts.push_back(StrCat(FormatBytes(held), " held"));
  return facts;
}

// "metrics of 3 launches of 2 kernels".
std::vector<std::string> MetricFacts(const Run& run) {
  std::set<std::string_view> kernels;
  std::set<std::pair<const Trace*, int64_t>> launches;
  for (const RunTrace& of : run.traces()) {
    const KernelMetricTable& metrics = of.trace->kernel_metrics;
    for (size_t row = 0; row < metrics.size(); ++row) {
      kernels.insert(of.trace->Text(metrics.kernel_name[row]));
      launches.emplace(of.trace.get(), metrics.launch_index[row]);
    }
  }
  return {StrCat("metrics of ", FormatCounted(static_cast<int64_t>(launches.size()), "launch", "launches"), " of ",
                 FormatCounted(static_cast<int64_t>(kernels.size()), "kernel"))};
}

// "samples of 2 GPUs", with the means of what says most: "GPU utilization 98 %, 393 W".
std::vector<std::string> SampleFacts(const Run& run) {
  struct Sum {
    double sum = 0, most = 0;
    int64_t count = 0;
  };
  std::map<std::string_view, Sum> sums;
  size_t devices = 0;
  int64_t first_ns = std::numeric_limits<int64_t>::max(), last_ns = std::numeric_limits<int64_t>::min();
  for (const RunTrace& of : run.traces()) {
    devices += of.trace->devices.size();
    const CounterTable& counters = of.trace->counters;
    for (size_t row = 0; row < counters.size(); ++row) {
      auto& [sum, most, count] = sums[of.trace->Text(counters.name[row])];
      sum += counters.value[row], most = std::max(most, counters.value[row]), ++count;
      const int64_t at = counters.ts_ns[row] + of.ts_shift_ns;
      first_ns = std::min(first_ns, at), last_ns = std::max(last_ns, at);
    }
  }
  std::vector<std::string> facts{
      devices == 0 ? "samples of a host" : StrCat("samples of ", FormatCounted(static_cast<int64_t>(devices), "GPU"))};
  const auto mean = [&](std::string_view name) {
    const auto at = sums.find(name);
    return at == sums.end() ? std::optional<double>() : at->second.sum / static_cast<double>(at->second.count);
  };
  if (const auto active = mean("gpu.dcgm.sm_active"))
    facts.push_back(StrCat("multiprocessors active ", FormatPercent(*active)));
  if (const auto busy = mean("gpu.utilization")) facts.push_back(StrCat("utilization ", FormatPercent(*busy)));
  if (const auto watts = mean("gpu.power")) facts.push_back(StrCat(FormatNumber(*watts, 0), " W"));
  if (const auto used = sums.find("gpu.memory.used"); used != sums.end())
    facts.push_back(StrCat("at most ", FormatBytes(std::llround(used->second.most)), " in use"));
  if (const auto span = last_ns - first_ns; span > 0) facts.push_back(StrCat("over ", FormatDuration(span)));
  return facts;
}

// Returns a path as one word of a shell, in single quotes if it needs them.
std::string Quoted(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  std::string shown = Printable(path);
  if (!shown.empty() && shown.find_first_not_of(kPlain) == std::string::npos) return shown;
  std::string out = "'";
  for (const char c : shown) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Returns " ORDER BY … DESC" by the column that ranks the rows of an analysis; "" if it has no duration.
std::string LargestFirst(std::string_view table) {
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->name != table) continue;
    for (const ColumnSpec& column : analysis->columns) {
      if (column.name == "dur_ns" || column.name == "total_ns") return StrCat(" ORDER BY ", column.name, " DESC");
    }
  }
  return {};
}

// Returns a table to look at next: the first input of the first bottleneck's rule that the report does not already
// show.
std::string TableToSee(const Report& report) {
  if (IsCommunicationOnly(report.run)) return std::string(CommunicationTable(report.tables));
  if (HasSamplesOnly(report.run)) return "counter";
  if (IsSummaryOnly(report.run)) return "summed_ops";
  if (IsMetricsOnly(report.run)) return "measured_kernels";
  if (IsMemoryOnly(report.run)) return "memory_at_peak";
  if (IsHostProfileOnly(report.run)) return "python_functions";
  if (report.summary.total.wall_ns == 0) return "operators";
  const auto& found = report.diagnosis.bottlenecks;
  const auto first = std::ranges::find_if(found, [](const Bottleneck& bottleneck) {
    return bottleneck.type != BottleneckType::kRecording || bottleneck.id == "warm_up";
  });
  if (first == found.end()) return "kernels";
  for (const Rule* rule : AllRules()) {
    if (rule->id != first->id) continue;
    for (const std::string_view need : rule->needs) {
      if (need != "ledger" && need != "steps") return std::string(need);
    }
  }
  return "idle";
}

// Returns the rule of the first finding that is about the program; "" if there is none.
std::string_view FirstRule(const Report& report) {
  for (const Bottleneck& found : report.diagnosis.bottlenecks)
    if (found.type != BottleneckType::kRecording) return found.id;
  return {};
}

bool HasSteps(const Run& run) {
  return std::ranges::any_of(run.traces(), [](const RunTrace& trace) { return trace.trace->steps.size() > 0; });
}

// Returns true if a recording breaks off, which a complete copy may cure.
bool CutOff(const Run& run) {
  return std::ranges::any_of(run.traces(), [](const RunTrace& trace) { return EndsInTheMiddle(*trace.trace); });
}

}  // namespace

std::string_view BaseName(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Its recordings lie in a folder per rank, beside what the agent reported.
std::string_view RunFolderOf(const Run& run) {
  for (const RunTrace& trace : run.traces()) {
    const std::string_view folder = FolderOf(trace.trace->info.path);
    const std::string_view name = BaseName(folder);
    if (trace.trace->info.format == "agent" && (name == "main" || name.starts_with("rank"))) return FolderOf(folder);
  }
  return {};
}

// Prefers the run folder, whose name the user chose, to the paths of the files in it.
std::string SubjectOf(const Run& run) {
  const auto traces = run.primary();
  if (traces.empty()) return "nothing";
  if (const std::string_view folder = RunFolderOf(run); !folder.empty()) return Printable(BaseName(folder));
  const std::string_view path = traces[0]->trace->info.path;
  if (traces.size() == 1) return Printable(BaseName(path));
  const std::string_view parent =
      CommonFolder(traces, [](const RunTrace* of) -> std::string_view { return of->trace->info.path; });
  if (parent.empty()) return StrCat(traces.size(), " recordings");
  return StrCat(Printable(BaseName(parent)), " (", traces.size(), " recordings)");
}

// A member of an archive is reached through the archive; files of one folder, or of folders in it, through the folder.
std::string PathToType(const Run& run) {
  const auto traces = run.traces();
  if (traces.empty() || traces[0].trace->info.piped) return "PATH";
  if (const std::string_view folder = RunFolderOf(run); !folder.empty()) return Quoted(folder);
  const std::string_view first = traces[0].trace->info.path;
  const size_t member = first.find("!/");
  if (member != std::string_view::npos) return Quoted(first.substr(0, member));
  if (traces.size() == 1) return Quoted(first);
  const std::string_view folder =
      CommonFolder(traces, [](const RunTrace& of) -> std::string_view { return of.trace->info.path; });
  return folder.empty() ? "PATH" : Quoted(folder);
}

namespace {

// "32", "31.5"
std::string FormatRounded(double value) { return FormatNumber(value, value == std::floor(value) ? 0 : 1); }

// "31 decode iterations of 32 requests, 2,604 tokens/s" for each phase of a serving engine.
void AddEngineFacts(const Report& report, std::vector<std::string>& facts) {
  const auto engine = report.tables.Get<EngineStepsRows>();
  for (size_t row = 0; row < engine.rows(); ++row) {
    const int64_t iterations = engine.Int(row, "iterations");
    std::string fact = StrCat(FormatCount(iterations), " ", engine.Text(row, "phase"),
                              iterations == 1 ? " iteration of " : " iterations of ",
                              FormatRounded(engine.Real(row, "requests_per_iteration")), " requests");
    if (!engine.IsNull(row, "context_per_request"))
      fact +=
          StrCat(" with ", FormatCount(std::llround(engine.Real(row, "context_per_request"))), " tokens of context");
    if (!engine.IsNull(row, "tokens_per_second"))
      fact += StrCat(", ", FormatCount(std::llround(engine.Real(row, "tokens_per_second"))), " tokens/s");
    facts.push_back(std::move(fact));
  }
}

// Did nsys record launches of graphs as one operation each, whose kernels are not known?
bool HasWholeGraphs(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) {
    const StringId graph = of->trace->strings.Find("CUDA graph");
    return graph != StringId::kNone &&
           std::ranges::any_of(of->trace->gpu_ops.name.stored(), [&](StringId name) { return name == graph; });
  });
}

}  // namespace

// The p95 is left out where it reads like the median.
std::vector<std::string> FactsOf(const Report& report) {
  const RunSummary& summary = report.summary;
  if (IsCommunicationOnly(report.run)) return CommunicationFacts(report.run);
  if (HasSamplesOnly(report.run)) return SampleFacts(report.run);
  if (IsSummaryOnly(report.run)) return SummaryFacts(report);
  if (IsMetricsOnly(report.run)) return MetricFacts(report.run);
  if (IsMemoryOnly(report.run)) return MemoryFacts(report);
  if (IsHostProfileOnly(report.run)) return HostProfileFacts(report.run);
  std::vector<std::string> facts;
  if (summary.ranks.size() > 1) facts.push_back(StrCat(summary.ranks.size(), " ranks"));
  facts.push_back(LacksDevicePart(report.run) ? "the GPU's part is missing" : Devices(summary));
  if (summary.steps > 0)
    facts.push_back(StrCat(summary.steps, summary.steps == 1 ? " complete step" : " complete steps"));
  if (summary.step_ns) {
    const std::string median = FormatDuration(summary.step_ns->median), slow = FormatDuration(summary.step_ns->p95);
    facts.push_back(StrCat("median step ", median, slow == median ? "" : StrCat(" (p95 ", slow, ")")));
  }
  if (summary.steps == 0) facts.emplace_back(HasSteps(report.run) ? "no complete step" : "no steps marked");
  if (const std::string busy = BusyText(summary); !busy.empty()) facts.push_back(busy);
  AddEngineFacts(report, facts);
  for (const std::string& fact : {MfuText(summary), ScalingText(summary), LayoutText(report.tables)})
    if (!fact.empty()) facts.push_back(fact);
  return facts;
}

// The advice answers the first of these that holds: the recording is cut off, a rule faults the recording, no GPU was
// recorded, graphs were recorded without their kernels, no step was marked.
Next NextOf(const Report& report) {
  Next next;
  const bool recording_fails =
      !report.diagnosis.bottlenecks.empty() && report.diagnosis.bottlenecks[0].type == BottleneckType::kRecording;
  if (CutOff(report.run)) {
    next.advice = "copy the recording again, or record fewer steps: it ends in the middle";
  } else if (IsCommunicationOnly(report.run)) {
    next.advice =
        "this says how ranks communicate, not what a step waits for: record the program with torch.profiler for that";
  } else if (HasSamplesOnly(report.run)) {
    next.advice = "samples say how busy a GPU is, not why: give them together with a recording of the program";
  } else if (IsSummaryOnly(report.run)) {
    next.advice =
        "a summary says where time went, not what waited for what: record a timeline with the same profiler, and "
        "give that";
  } else if (IsMetricsOnly(report.run)) {
    next.advice =
        "metrics say how well a kernel runs, not what it costs the program: give them together with a timeline, "
        "recorded by torch.profiler or nsys";
  } else if (IsMemoryOnly(report.run)) {
    next.advice =
        "a snapshot says what memory holds, not where time goes: record the program with torch.profiler for that";
  } else if (IsHostProfileOnly(report.run)) {
    next.advice =
        "a profile says what takes the time, not what waits for it: give it together with a timeline of the same run, "
        "recorded by torch.profiler or nsys";
  } else if (recording_fails) {
    next.advice = report.diagnosis.bottlenecks[0].recommendations[0].text;
  } else if (report.summary.total.wall_ns == 0 && RunFolderOf(report.run).empty()) {
    next.advice = StrCat(DescribesDevice(report.run) ? "" : "if the program uses a GPU, ",
                         "record the GPU as well: ", RecordDeviceCode(report.run));
  } else if (HasWholeGraphs(report.run)) {
    next.advice = "record the kernels of CUDA graphs: nsys profile --cuda-graph-trace=node …";
  } else if (!HasSteps(report.run)) {
    next.advice = MarkStepsAdvice(report.run, WorkloadOf(report.run));
  }
  const std::string table = TableToSee(report);
  const std::string path = PathToType(report.run);
  next.sql = StrCat("gapless query ", path, " \"SELECT * FROM ", table, LargestFirst(table), " LIMIT 20\"");
  next.lines = NextLines(After::kReading, {.command = report.command, .path = path, .rule = FirstRule(report)});
  next.query = next.lines.front();
  return next;
}

}  // namespace gapless::internal
