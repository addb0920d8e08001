// SPDX-License-Identifier: Apache-2.0
// Sums up the time of a step's Python code by function of the user's code, and by the functions which that calls.
//
// Looks at the thread that takes the steps, in complete steps, outside of operators and of what host_steps lists by
// itself: loading, saving, garbage, compiling, the optimiser. A frame's own time is its time in steps without that of
// its children; a frame that was open before the recording began is cut at the steps. Annotations are transparent. Time
// belongs to the innermost function of the user's code; where library code or a built-in function runs, to the
// innermost of these as well.
#include "analyses/rows/python_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/host_parts.h"
#include "analyses/optimizer_updates.h"
#include "base/strings.h"

namespace gapless::internal::python_time_analysis {
namespace {

using host_parts::Part;

// "train.py(12): work" is the frame of "work() (train.py)".
bool IsFrameOf(std::string_view name, std::string_view place) {
  const size_t open = place.rfind(" (");
  if (open == place.npos || !place.ends_with(')')) return false;
  std::string_view function = place.substr(0, open);
  const std::string_view file = place.substr(open + 2, place.size() - open - 3);
  if (function.ends_with("()")) function.remove_suffix(2);
  return name.size() > file.size() && name.starts_with(file) && name[file.size()] == '(' &&
         name.ends_with(StrCat("): ", function));
}

bool IsLine(std::string_view place) { return !place.empty() && place.back() >= '0' && place.back() <= '9'; }

// "<built-in method sleep of module object at 0x7f>" → "sleep"; "json/decoder.py(3): decode" → "decode
// (json/decoder.py)".
std::string NameOfCallee(std::string_view name) {
  for (const std::string_view prefix : {"<built-in method ", "<built-in function "}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return std::string(name.substr(0, name.find_first_of(" >")));
  }
  const size_t close = name.find("): "), open = close == name.npos ? close : name.rfind('(', close);
  if (open == name.npos) return std::string(name);
  return StrCat(name.substr(close + 3), " (", name.substr(0, open), ")");
}

// The functions and the line that a slice is inside of.
struct Context {
  StringId function = StringId::kNone, callee = StringId::kNone, line = StringId::kNone;
  bool counts = false;  // neither in an operator nor in a part of its own
  bool operator==(const Context&) const = default;
};

struct Group {
  int64_t calls = 0, self_ns = 0;
};
using Key = std::tuple<StringId, StringId, StringId>;  // function, callee, line

// Each distinct context once. A recording has a few hundred of them and millions of slices.
class Contexts {
 public:
  uint32_t NumberOf(const Context& context) {
    const auto [at, is_new] = numbers_.try_emplace(context, static_cast<uint32_t>(known_.size()));
    if (is_new) known_.push_back(context);
    return at->second;
  }
  const Context& operator[](uint32_t number) const { return known_[number]; }

 private:
  struct Hash {
    size_t operator()(const Context& of) const {
      size_t hash = of.counts;
      for (const StringId id : {of.function, of.callee, of.line}) hash = hash * 0x9e3779b1 + static_cast<uint32_t>(id);
      return hash;
    }
  };

  std::unordered_map<Context, uint32_t, Hash> numbers_;
  std::vector<Context> known_;
};

class Collector {
 public:
  Collector(const Trace& trace, const OptimizerUpdates& updates)
      : trace_(trace), slices_(trace.slices), updates_(updates) {
    for (size_t id = 0; id < trace.strings.size(); ++id)
      parts_.push_back(host_parts::PartOf(trace.strings[static_cast<StringId>(id)]));
    for (size_t step = 0; step < trace.steps.size(); ++step)
      if (trace.steps.complete[step] != 0)
        AppendMerged(steps_, {trace.steps.ts_ns[step], trace.steps.ts_ns[step] + trace.steps.dur_ns[step]});
  }

  std::map<Key, Group> Run() {
    if (steps_.empty()) return {};
    const ThreadId thread = host_parts::SteppingThread(trace_);
    std::vector<int64_t> own(slices_.size());
    context_of_.resize(slices_.size());
    std::span<const Interval> steps = steps_;
    for (size_t row = 0; row < slices_.size(); ++row) {
      if (slices_.thread[row] != thread) continue;
      context_of_[row] = ContextOf(row);
      const Interval span{slices_.ts_ns[row], slices_.ts_ns[row] + slices_.dur_ns[row]};
      while (!steps.empty() && steps.front().end <= span.start) steps = steps.subspan(1);
      for (size_t step = 0; step < steps.size() && steps[step].start < span.end; ++step)
        own[row] += std::min(steps[step].end, span.end) - std::max(steps[step].start, span.start);
      if (slices_.parent[row].valid()) own[slices_.parent[row].value] -= own[row];
    }
    std::map<Key, Group> groups;
    for (size_t row = 0; row < slices_.size(); ++row) {
      if (slices_.thread[row] != thread || own[row] <= 0) continue;
      const Context& context = contexts_[context_of_[row]];
      if (!context.counts) continue;
      Group& group = groups[{context.function, context.callee, context.line}];
      group.calls += slices_.category[row] == SliceCategory::kPython, group.self_ns += own[row];
    }
    return groups;
  }

 private:
  // The same functions call each other again and again, so what was found last is looked up before it is found again.
  uint32_t ContextOf(size_t row) {
    const SliceId parent = slices_.parent[row];
    const uint32_t outer = parent.valid() ? context_of_[parent.value] : contexts_.NumberOf({.counts = true});
    if (!contexts_[outer].counts) return outer;
    if (updates_.Holds(static_cast<uint32_t>(row))) return contexts_.NumberOf({});
    const Place place{outer, slices_.name[row], slices_.source_line[row], slices_.category[row]};
    Found& found = found_[place.Hash() % found_.size()];
    if (found.place != place) found = {place, Find(place)};
    return found.context;
  }

  // A Place is where a slice stands, as far as its context depends on it.
  struct Place {
    uint32_t outer = kNoRowValue;  // number of the context around it
    StringId name = StringId::kNone, line = StringId::kNone;
    SliceCategory category = SliceCategory::kOther;
    bool operator==(const Place&) const = default;
    size_t Hash() const {
      return ((outer * 0x9e3779b1U) ^ static_cast<uint32_t>(name)) * 0x9e3779b1U ^ static_cast<uint32_t>(line);
    }
  };
  struct Found {
    Place place{};
    uint32_t context = 0;
  };

  uint32_t Find(const Place& place) {
    Context context = contexts_[place.outer];
    const bool is_open = place.category == SliceCategory::kPython || place.category == SliceCategory::kAnnotation;
    // An optimiser's step is a part of its own, but not the closure that it runs.
    const Part part = parts_[static_cast<uint32_t>(place.name)];
    if (!is_open || (part != Part::kNone && part != Part::kOptimizer)) return contexts_.NumberOf({});
    if (place.category != SliceCategory::kPython) return place.outer;
    // A frame of the agent around a function is none of the program's calls.
    if (trace_.Text(place.name).starts_with("gapless_agent/")) return place.outer;
    if (IsFrameOf(trace_.Text(place.name), trace_.Text(place.line)))
      return contexts_.NumberOf({place.line, StringId::kNone, StringId::kNone, true});
    context.callee = place.name;
    if (IsLine(trace_.Text(place.line))) context.line = place.line;
    return contexts_.NumberOf(context);
  }

  const Trace& trace_;
  const SliceTable& slices_;
  const OptimizerUpdates& updates_;
  Intervals steps_;
  std::vector<Part> parts_;  // by name
  Contexts contexts_;
  std::array<Found, 4096> found_{};   // by hash; the newest stays
  std::vector<uint32_t> context_of_;  // by row, a number of contexts_
};

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<PythonTimeRows>& table) {
  const Trace& trace = timeline.trace();
  const bool has_python = std::find(trace.slices.category.begin(), trace.slices.category.end(),
                                    SliceCategory::kPython) != trace.slices.category.end();
  if (!has_python) return;
  std::map<Key, Group> groups = Collector(trace, tables.Once(trace, FindOptimizerUpdates)).Run();
  std::vector<std::pair<Key, Group>> rows(groups.begin(), groups.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.self_ns > b.second.self_ns; });
  for (const auto& [key, group] : rows) {
    const auto& [function, callee, line] = key;
    auto row = table.Row(*timeline.of);
    row.Set("function", trace.Text(function)).Set("callee", NameOfCallee(trace.Text(callee)));
    row.Set("source_line", trace.Text(line)).Set("calls", group.calls).Set("self_ns", group.self_ns);
    row.Set("on_device", !timeline.devices.empty());
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<PythonTimeRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(python_time) = AnalysisOf<PythonTimeRows>({.run = Compute, .cost = 4});

}  // namespace gapless::internal::python_time_analysis
