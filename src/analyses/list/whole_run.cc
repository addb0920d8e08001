// SPDX-License-Identifier: Apache-2.0
// Sums up what the agent reported of a whole run, not only of the steps that the profiler recorded: waits for batches,
// garbage collections, checkpoints, evaluations, other work beside the training, compilations, skipped steps. How often
// rare things happen is known only from here.
//
// Work inside of an evaluation, such as computing metrics, is part of that evaluation alone, as a row with a detail.
// Work of another thread takes no time of the steps: its rows are of kind `background`.
//
// The steps that count are those of analyses/counted_steps.h. An event counts with the part of it that lies in such
// steps. Waits are those of the steps themselves, which the agent adds up from the first nanosecond on; long ones are
// also slices, with their line.
#include "analyses/rows/whole_run.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/counted_steps.h"
#include "analyses/intervals.h"
#include "base/strings.h"
#include "trace/formats.h"
#include "trace/marks.h"
#include "trace/workload.h"

namespace gapless::internal::whole_run_analysis {
namespace {

constexpr double kMaxCounted = 1e15;  // a counter above this is no count

struct Counted {
  Intervals steps;  // those that count
  int64_t count = 0, wall_ns = 0, longest_ns = 0, wait_ns = 0;
};

struct Events {
  int64_t calls = 0, total_ns = 0, max_ns = 0;
  std::map<StringId, int64_t> line_ns;
};

Counted CountSteps(const Trace& trace) {
  Counted counted;
  const StepTable& steps = trace.steps;
  for (const uint32_t row : StepsThatCount(trace)) {
    const Interval span = SpanOfStep(trace, row);
    ++counted.count, counted.wall_ns += span.length();
    counted.longest_ns = std::max(counted.longest_ns, span.length());
    if (steps.wait_ns[row] != kAbsent) counted.wait_ns += std::min(steps.wait_ns[row], span.length());
    AppendMerged(counted.steps, span);
  }
  return counted;
}

constexpr std::string_view kBesideKinds[] = {"logging", "images", "metrics"};

// Splits "images: Image.save". Kinds that this version does not know are left out.
std::pair<std::string_view, std::string_view> KindOfWork(std::string_view label) {
  const size_t at = label.find(": ");
  if (at == label.npos || std::ranges::find(kBesideKinds, label.substr(0, at)) == std::end(kBesideKinds)) return {};
  return {label.substr(0, at), label.substr(at + 2)};
}

// Returns the kind and detail of a slice; an empty kind for slices that are not summed up.
std::pair<std::string_view, std::string_view> KindOf(std::string_view name) {
  if (name.starts_with(kBesideName)) return KindOfWork(name.substr(kBesideName.size()));
  if (name.starts_with(kInThreadName)) return {"background", name.substr(kInThreadName.size())};
  if (name == kBatchWaitName) return {"data", {}};
  if (name == kGarbageName) return {"garbage", {}};
  if (name == kSaveName) return {"checkpoint", {}};
  if (name == kRolloutName) return {"rollout", {}};
  if (name == kEvaluationName) return {"evaluation", {}};
  if (name.starts_with(kGraphBreakName)) return {"graph_break", name.substr(kGraphBreakName.size())};
  if (!name.ends_with(kCompileSuffix)) return {};
  name.remove_suffix(kCompileSuffix.size());
  if (name.starts_with(kCompiledAgainName)) return {"recompile", name.substr(kCompiledAgainName.size())};
  return {"compile", name};
}

using Key = std::pair<std::string_view, std::string_view>;  // kind, detail

// Start and name of a slice → the number of calls it stands for, and the longest of them, where the agent has added
// some up.
class AddedUp {
 public:
  explicit AddedUp(const Trace& trace) {
    const CounterTable& counters = trace.counters;
    for (size_t row = 0; row < counters.size(); ++row) {
      std::string_view name = trace.Text(counters.name[row]);
      const double value = counters.value[row];
      if (!name.ends_with(kCallsSuffix) && !name.ends_with(kLongestSuffix)) continue;
      if (!(value >= 0) || value > kMaxCounted) continue;
      const bool is_count = name.ends_with(kCallsSuffix);
      name.remove_suffix(is_count ? kCallsSuffix.size() : kLongestSuffix.size());
      auto& [calls, longest_ns] = of_[{counters.ts_ns[row], name}];
      (is_count ? calls : longest_ns) = static_cast<int64_t>(value);
    }
  }
  // Returns calls and the longest; 1 and `ns` for a slice that stands for itself.
  std::pair<int64_t, int64_t> Of(int64_t ts_ns, std::string_view name, int64_t ns) const {
    const auto found = of_.find({ts_ns, name});
    if (found == of_.end()) return {1, ns};
    return {std::max<int64_t>(1, found->second.first), std::min(found->second.second, ns)};
  }

 private:
  std::map<std::pair<int64_t, std::string_view>, std::pair<int64_t, int64_t>> of_;
};

Intervals Evaluations(const Trace& trace) {
  Intervals found;
  const SliceTable& slices = trace.slices;
  for (size_t row = 0; row < slices.size(); ++row)
    if (trace.Text(slices.name[row]) == kEvaluationName)
      AppendMerged(found, {slices.ts_ns[row], slices.ts_ns[row] + slices.dur_ns[row]});
  return found;
}

// Returns the row that a slice adds to: the evaluation around it, or its own.
Key KeyOf(std::string_view name, Key own, const Intervals& evaluations, int64_t ts_ns) {
  const bool is_work = name.starts_with(kBesideName) || own.first == "checkpoint";
  if (!is_work || !IsSomeIn(evaluations, {ts_ns, ts_ns + 1})) return own;
  return {"evaluation", name.starts_with(kBesideName) ? name.substr(kBesideName.size()) : name};
}

void Add(Events& events, std::pair<int64_t, int64_t> calls, int64_t ns, StringId line) {
  events.calls += calls.first, events.total_ns += ns, events.max_ns = std::max(events.max_ns, calls.second);
  if (line != StringId::kNone) events.line_ns[line] += ns;
}

std::map<Key, Events> Collect(const Trace& trace, const Counted& counted) {
  std::map<Key, Events> all;
  const AddedUp added_up(trace);
  const Intervals evaluations = Evaluations(trace);
  const SliceTable& slices = trace.slices;
  for (size_t row = 0; row < slices.size(); ++row) {
    const std::string_view name = trace.Text(slices.name[row]);
    const Key own = KindOf(name);
    if (own.first.empty()) continue;
    const int64_t ts_ns = slices.ts_ns[row], ns = TotalIn(counted.steps, {ts_ns, ts_ns + slices.dur_ns[row]});
    if (ns == 0 && own.first != "graph_break") continue;
    const Key key = KeyOf(name, own, evaluations, ts_ns);
    const auto calls = added_up.Of(ts_ns, name, ns);
    if (key == own) Add(all[{key.first, {}}], calls, ns, slices.source_line[row]);
    if (!key.second.empty()) Add(all[key], calls, ns, slices.source_line[row]);
  }
  return all;
}

// Returns the environment steps of the rollouts that begin in steps that count, and the time inside of environments.
Events EnvironmentSteps(const Trace& trace, const Counted& counted) {
  Events events;
  const CounterTable& counters = trace.counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    const std::string_view name = trace.Text(counters.name[row]);
    const int64_t at = counters.ts_ns[row];
    if ((name != kEnvironmentStepsName && name != kEnvironmentTimeName) || !(counters.value[row] >= 0) ||
        counters.value[row] > kMaxCounted || !IsSomeIn(counted.steps, {at, at + 1}))
      continue;
    const auto value = static_cast<int64_t>(counters.value[row]);
    if (name == kEnvironmentStepsName) events.calls += value;
    if (name == kEnvironmentTimeName) events.total_ns += value, events.max_ns = std::max(events.max_ns, value);
  }
  return events;
}

// The time of the steps whose optimiser the loss scaler skipped.
Events Skipped(const Trace& trace, const Counted& counted) {
  Events events;
  const CounterTable& counters = trace.counters;
  for (size_t row = 0; row < counters.size(); ++row) {
    if (trace.Text(counters.name[row]) != kSkippedStepName) continue;
    const auto at = std::lower_bound(trace.steps.ts_ns.begin(), trace.steps.ts_ns.end(), counters.ts_ns[row]);
    if (at == trace.steps.ts_ns.end()) continue;
    const size_t step = static_cast<size_t>(at - trace.steps.ts_ns.begin());
    const int64_t ns = TotalIn(counted.steps, {*at, *at + trace.steps.dur_ns[step]});
    events.calls += ns > 0, events.total_ns += ns, events.max_ns = std::max(events.max_ns, ns);
  }
  return events;
}

// "loss scale 65536 at first, 64 at least, 128 at last"; "": no scaler was seen.
std::string LossScale(const Trace& trace) {
  const CounterTable& counters = trace.counters;
  double first = 0, least = 0, last = 0;
  for (size_t row = 0; row < counters.size(); ++row) {
    if (trace.Text(counters.name[row]) != kLossScaleName || !(counters.value[row] > 0)) continue;
    last = counters.value[row];
    if (first == 0) first = least = last;
    least = std::min(least, last);
  }
  if (first == 0) return {};
  return StrCat("loss scale ", FormatDigits(first, 6), " at first, ", FormatDigits(least, 6), " at least, ",
                FormatDigits(last, 6), " at last");
}

bool UsesDevice(const Trace& trace) {
  return std::any_of(trace.counters.device.begin(), trace.counters.device.end(),
                     [](int32_t device) { return device != kAbsent32; });
}

// Reads "num_workers" of the settings of the training's loader.
int64_t Workers(const Trace& trace) {
  static constexpr std::string_view kField = "\"num_workers\":";
  const std::string_view settings = TrainingLoaderOf(trace);
  const size_t at = settings.find(kField);
  int64_t workers = kAbsent;
  if (at != settings.npos)
    std::from_chars(settings.data() + at + kField.size(), settings.data() + settings.size(), workers);
  return workers;
}

void AddRows(const RunTrace& of, TableOf<WholeRunRows>& table) {
  const Trace& trace = *of.trace;
  const Counted counted = CountSteps(trace);
  if (counted.count == 0) return;
  std::map<Key, Events> all = Collect(trace, counted);
  all[{"step", {}}] = {counted.count, counted.wall_ns, counted.longest_ns, {}};
  if (counted.wait_ns > 0) all[{"data", {}}].total_ns = counted.wait_ns;
  if (const Events environment = EnvironmentSteps(trace, counted); environment.calls > 0)
    all[{"environment", {}}] = environment;
  const std::string scale = LossScale(trace);
  if (const Events skipped = Skipped(trace, counted); skipped.calls > 0) {
    all[{"skipped_step", {}}] = skipped;
    if (!scale.empty()) all[{"skipped_step", scale}] = skipped;
  }
  const bool on_device = UsesDevice(trace);
  for (const auto& [key, events] : all) {
    const auto line = std::max_element(events.line_ns.begin(), events.line_ns.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    auto row = table.Row(of);
    row.Set("kind", key.first).Set("detail", key.second).Set("calls", events.calls).Set("total_ns", events.total_ns);
    row.Set("max_ns", events.max_ns).Set("on_device", on_device);
    if (line != events.line_ns.end()) row.Set("source_line", trace.Text(line->first));
    if (key.first == "data") row.Set("workers", Workers(trace));
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<WholeRunRows> table;
  for (const RunTrace& of : run.traces())
    if (of.counts() && of.trace->info.format == kAgentFormat) AddRows(of, table);
  return table;
}

}  // namespace

ANALYSIS(whole_run) = AnalysisOf<WholeRunRows>({.run = Compute});

}  // namespace gapless::internal::whole_run_analysis
