// SPDX-License-Identifier: Apache-2.0
// Picks the rows of a recording that a summary keeps, and those of all tables that are the recording's.
#include "cluster/condense.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "analyses/gather.h"
#include "analyses/idle_gaps.h"
#include "analyses/role_work.h"
#include "base/strings.h"
#include "trace/cut.h"
#include "trace/reading_note.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

// Tables that no rule reads and that have a row for each event, and those that are made anew of summaries.
constexpr std::string_view kNotKept[] = {"comm_ranks", "hung_collectives", "idle",        "memory_curve",
                                         "ranks",      "slow_parts",       "slowest_step"};
// The tables of kNotKept that an opened recording has.
constexpr std::string_view kOfEvents[] = {"idle", "memory_curve", "slowest_step"};
constexpr size_t kMaxRowsOfTable = 4000;  // rows of a table to begin with
constexpr size_t kMaxNames = 3000;        // different slices that stand for all
constexpr size_t kMaxCollectives = 20'000;
constexpr size_t kMaxStacks = 5000;                   // frames; of more, collectives do not say where they were called
constexpr size_t kKeptSteps = 6;                      // whose collectives are kept if there are more
constexpr size_t kFewestRows = 8;                     // to which a table is cut at most
constexpr size_t kMaxPlaces = 64;                     // of idle time
constexpr size_t kMaxStretches = 512;                 // of a device's work, for roles
constexpr size_t kMaxOpenedBytes = size_t{32} << 20;  // of an opened recording's events, compressed
constexpr size_t kLeastBytesOfEvent = 4;              // compressed; more events than find room are not tried

template <class T>
Column<T> Taken(const Column<T>& column, std::span<const uint32_t> rows) {
  std::vector<T> values;
  values.reserve(rows.size());
  for (const uint32_t row : rows) values.push_back(column[row]);
  return values;
}
// Ids name rows that are not here.
template <class Tag>
  requires(!std::is_same_v<RowId<Tag>, ThreadId> && !std::is_same_v<RowId<Tag>, StepId>)
Column<RowId<Tag>> Taken(const Column<RowId<Tag>>&, std::span<const uint32_t> rows) {
  return Column<RowId<Tag>>::Same(rows.size(), RowId<Tag>());
}

template <class Rows>
Rows Taken(const Rows& whole, std::span<const uint32_t> rows) {
  Rows taken = whole;
  Rows::Visit(taken, [&](std::string_view, auto& column) { column = Taken(column, rows); });
  return taken;
}

// The first row of each key, in their order; at most `count`.
template <class KeyOf>
std::vector<uint32_t> FirstOfEach(size_t rows, size_t count, KeyOf key_of) {
  std::vector<uint32_t> first;
  std::set<decltype(key_of(size_t{}))> seen;
  for (size_t row = 0; row < rows && first.size() < count; ++row)
    if (seen.insert(key_of(row)).second) first.push_back(static_cast<uint32_t>(row));
  return first;
}

SliceTable LightSlices(const SliceTable& slices) {
  SliceTable light = Taken(slices, FirstOfEach(slices.size(), kMaxNames, [&](size_t row) {
                             return std::tuple(slices.name[row], slices.category[row], slices.api[row]);
                           }));
  const size_t rows = light.size();
  light.depth = Column<uint16_t>::Same(rows, 0);
  for (auto* texts : {&light.input_shapes, &light.input_types, &light.concrete_inputs, &light.source_line})
    *texts = Column<StringId>::Same(rows, StringId::kNone);
  for (auto* numbers : {&light.external_id, &light.correlation, &light.sequence, &light.self_ns})
    *numbers = Column<int64_t>::Same(rows, kAbsent);
  return light;
}

GpuOpTable LightGpuOps(const GpuOpTable& ops) {
  return Taken(ops, FirstOfEach(ops.size(), kMaxNames, [&](size_t row) {
                 return std::tuple(ops.name[row], ops.kind[row], ops.op_class[row], ops.device[row]);
               }));
}

// All collectives, or where there are very many those of the window's last steps.
CollectiveTable LightCollectives(const TraceTimeline& timeline) {
  const CollectiveTable& all = timeline.trace().collectives;
  RowRange kept{0, all.size()};
  const auto& steps = timeline.window.steps;
  if (all.size() > kMaxCollectives && !steps.empty())
    kept = RowsWithin(all.ts_ns,
                      {steps[steps.size() - std::min(kKeptSteps, steps.size())].span.start, timeline.window.span.end});
  std::vector<uint32_t> rows;
  for (size_t row = kept.first; row < std::min(kept.last, kept.first + kMaxCollectives); ++row)
    rows.push_back(static_cast<uint32_t>(row));
  CollectiveTable light = Taken(all, rows);
  if (timeline.trace().stacks.size() > kMaxStacks) return light;
  std::vector<StackId> stacks;
  for (const uint32_t row : rows) stacks.push_back(all.stack[row]);
  light.stack = std::move(stacks);
  return light;
}

Trace Light(const TraceTimeline& timeline) {
  const std::shared_ptr<const Trace>& whole = timeline.of->trace;
  Trace light;
  light.info = whole->info;
  std::vector<std::string_view> texts(whole->strings.size());
  for (size_t id = 0; id < texts.size(); ++id) texts[id] = whole->strings[static_cast<StringId>(id)];
  light.strings = StringPool::FromViews(std::move(texts), whole);
  light.threads = whole->threads, light.devices = whole->devices, light.steps = whole->steps;
  light.environment = whole->environment, light.read_stats = whole->read_stats;
  light.slices = LightSlices(whole->slices), light.gpu_ops = LightGpuOps(whole->gpu_ops);
  light.collectives = LightCollectives(timeline);
  if (std::ranges::any_of(light.collectives.stack.stored(), &StackId::valid)) light.stacks = whole->stacks;
  const auto& events = whole->memory_events;
  light.memory_events = Taken(events, FirstOfEach(events.size(), kMaxNames, [&](size_t row) {
                                return std::tuple(events.device_type[row], events.device[row]);
                              }));
  const auto& counters = whole->counters;
  light.counters = Taken(counters, FirstOfEach(counters.size(), kMaxNames, [&](size_t row) {
                           return std::tuple(counters.name[row], counters.device[row]);
                         }));
  constexpr uint32_t kFirst[] = {0};
  if (whole->memory_blocks.size() > 0) light.memory_blocks = Taken(whole->memory_blocks, kFirst);
  return light;
}

IdBase RowsOf(const Trace& trace) {
  const auto count = [](const auto& table) { return static_cast<int64_t>(table.size()); };
  return {.slice = count(trace.slices),
          .gpu_op = count(trace.gpu_ops),
          .gpu_annotation = count(trace.gpu_annotations),
          .sync = count(trace.syncs),
          .collective = count(trace.collectives),
          .step = count(trace.steps),
          .memory_event = count(trace.memory_events),
          .stack = count(trace.stacks)};
}

SummarySpan SpanOf(Interval interval) { return {interval.start, std::max(interval.start, interval.end)}; }

TraceSummary SummaryOf(const TraceTimeline& timeline) {
  TraceSummary summary;
  summary.rows = RowsOf(timeline.trace());
  summary.window = SpanOf(timeline.window.span), summary.host = SpanOf(timeline.window.host);
  summary.one_off_idle_ns = timeline.window.one_off_idle_ns;
  for (const StepWindow& step : timeline.window.steps) summary.steps.push_back({step.step, SpanOf(step.span)});
  for (const DeviceTimeline& device : timeline.devices) {
    SummaryDevice& its = summary.devices.emplace_back();
    its.device = device.device;
    for (const Interval span : device.exposed_communication) its.exposed_communication.push_back(SpanOf(span));
    summary.idle_rows += static_cast<int64_t>(device.gaps.size());
  }
  return summary;
}

// The rows of a table that are the recording's, or the first `count` of them.
std::vector<uint32_t> RowsOfTrace(const Table& table, int trace) {
  std::vector<uint32_t> rows;
  const int column = table.Find("trace");
  for (size_t row = 0; row < table.rows(); ++row)
    if (column < 0 || table.Int(row, column) == trace) rows.push_back(static_cast<uint32_t>(row));
  return rows;
}

// Writes some rows of a table under the recording's own ids and times.
void WriteRows(const Table& table, std::span<const uint32_t> rows, const RunTrace& of, SectionWriter& to) {
  to.Begin(SectionOfTable(table.name()), rows.size());
  for (size_t at = 0; at < table.columns().size(); ++at) {
    const ColumnSpec& spec = table.columns()[at];
    const int column = static_cast<int>(at);
    if (IsOfRun(spec)) continue;
    if (spec.type == ColumnType::kText) {
      std::vector<std::string_view> texts;
      for (const uint32_t row : rows) texts.push_back(table.Text(row, column));
      to.Texts(spec.name, texts);
    } else if (spec.type == ColumnType::kReal) {
      std::vector<double> reals;
      for (const uint32_t row : rows) reals.push_back(table.Real(row, column));
      to.Reals(spec.name, reals);
    } else {
      std::vector<int64_t> ints;
      const int64_t base = BaseInRun(spec, of);
      for (const uint32_t row : rows)
        ints.push_back(table.IsNull(row, column) ? kAbsent : table.Int(row, column) - base);
      to.Ints(spec.name, ints);
    }
  }
}

void WritePlaces(std::vector<IdlePlace> places, SectionWriter& to) {
  places.resize(std::min(places.size(), kMaxPlaces));
  std::vector<std::string_view> operators, lines;
  for (const IdlePlace& place : places) operators.push_back(place.operator_name), lines.push_back(place.source_line);
  to.Begin(kIdlePlacesSection, places.size());
  to.Texts("operator", operators), to.Texts("source_line", lines);
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    std::vector<int64_t> ns;
    for (const IdlePlace& place : places) ns.push_back(place.ns[cause]);
    to.Ints(kIdleColumns[cause], ns);
  }
}

// A table with those of its rows that go into the summary.
struct KeptTable {
  const Table* table;
  std::vector<uint32_t> rows;
  size_t all;
  size_t cells() const { return rows.size() * table->columns().size(); }
};

std::vector<KeptTable> TablesOf(Tables& tables, const RunTrace& of, Detail detail) {
  std::vector<KeptTable> kept;
  for (const Analysis* analysis : AllAnalyses()) {
    const bool opened = detail == Detail::kEvents && std::ranges::count(kOfEvents, analysis->name) > 0;
    if (std::ranges::count(kNotKept, analysis->name) > 0 && !opened) continue;
    const Table& table = tables.Get(analysis->name);
    std::vector<uint32_t> rows = RowsOfTrace(table, of.index);
    const size_t all = rows.size();
    if (detail == Detail::kSmall) rows.resize(std::min(all, kMaxRowsOfTable));
    if (all > 0) kept.push_back({&table, std::move(rows), all});
  }
  return kept;
}

// Writes down which tables lost rows.
void SayWhatWasCut(const std::vector<KeptTable>& kept, size_t collectives, Trace& light) {
  std::vector<std::string> tables;
  auto lost = static_cast<int64_t>(collectives - light.collectives.size());
  if (lost > 0)
    tables.push_back(StrCat(FormatCount(static_cast<int64_t>(light.collectives.size())), " of ",
                            FormatCount(static_cast<int64_t>(collectives)), " collectives"));
  for (const KeptTable& table : kept) {
    if (table.rows.size() == table.all) continue;
    lost += static_cast<int64_t>(table.all - table.rows.size());
    tables.push_back(StrCat(FormatCount(static_cast<int64_t>(table.rows.size())), " of ",
                            FormatCount(static_cast<int64_t>(table.all)), " rows of table ", table.table->name()));
  }
  if (lost > 0)
    AddReadingNote(light, "summary_cut", Severity::kInfo, lost, StrCat("the summary keeps ", Join(tables, ", ")));
}

struct StepsTried {
  size_t count, before;  // steps that count, and steps before them, which leave the queues of the device as they are
};
constexpr StepsTried kStepsTried[] = {{8, 1}, {4, 1}, {2, 1}, {1, 1}, {1, 0}};

// The steps in the middle, with those before them; nothing where there are fewer. At the ends of a recording steps
// differ from the others, and the middle is the same for all ranks of a job.
std::optional<Stretch> MiddleSteps(const TraceTimeline& timeline, StepsTried wanted) {
  const auto& steps = timeline.window.steps;
  if (steps.size() < wanted.count + wanted.before) return std::nullopt;
  const size_t first = std::max(wanted.before, (steps.size() - wanted.count + 1) / 2), last = first + wanted.count - 1;
  const StepTable& rows = timeline.trace().steps;
  const StepId begin = steps[first - wanted.before].step, end = steps[last].step;
  return Stretch{.start_ns = rows.ts_ns[begin.value],
                 .end_ns = std::max(rows.ts_ns[end.value] + rows.dur_ns[end.value], steps[last].span.end),
                 .first = steps[first].step,
                 .last = end};
}

// The events of the recording, or of steps in its middle, if they find room.
std::string EventsThatFit(const TraceTimeline& timeline, size_t room) {
  const std::shared_ptr<const Trace>& whole = timeline.of->trace;
  const auto fits = [&](const Trace& trace) {
    return trace.slices.size() + trace.gpu_ops.size() <= room / kLeastBytesOfEvent;
  };
  if (fits(*whole))
    if (std::string events = WriteEvents(*whole, {}); events.size() <= room) return events;
  for (const StepsTried wanted : kStepsTried)
    if (const auto stretch = MiddleSteps(timeline, wanted)) {
      const CutTrace cut = Cut(whole, *stretch);
      if (!fits(*cut.trace)) continue;
      if (std::string events = WriteEvents(*cut.trace, cut.rows); events.size() <= room) return events;
    }
  return {};
}

}  // namespace

std::string Condense(Tables& tables, const RunTrace& of, Detail detail) {
  const auto& timelines = tables.Timelines();
  const TraceTimeline& timeline =
      *std::ranges::find_if(timelines, [&](const TraceTimeline& each) { return each.of->index == of.index; });
  const TraceSummary summary = SummaryOf(timeline);
  const Table longest = LongestIdleRows(timeline);
  const std::vector<IdlePlace> places = IdlePlacesOf(tables, of.index);
  RecordedWork work = WorkOfRecording(of);
  for (DeviceStretches& device : work.devices) Coarsen(device.stretches, kMaxStretches);
  std::vector<KeptTable> kept = TablesOf(tables, of, detail);
  const auto written = [&](std::string_view events) {
    Trace light = Light(timeline);
    SayWhatWasCut(kept, timeline.trace().collectives.size(), light);
    if (detail == Detail::kEvents)
      AddReadingNote(light, kOpenedNote, Severity::kInfo, 1, StrCat("opened for its events: ", of.trace->info.path));
    SectionWriter sections;
    for (const KeptTable& table : kept) WriteRows(*table.table, table.rows, of, sections);
    if (detail == Detail::kSmall) WriteRows(longest, RowsOfTrace(longest, of.index), of, sections);
    WritePlaces(places, sections);
    WriteWork(work, sections);
    return WriteSummary(light, summary, std::move(sections), events);
  };
  if (detail == Detail::kEvents) return written(EventsThatFit(timeline, kMaxOpenedBytes));
  for (;;) {
    const size_t bytes = written({}).size();
    const auto largest = std::ranges::max_element(kept, {}, &KeptTable::cells);
    if (bytes <= kMaxSummaryBytes || kept.empty() || largest->rows.size() <= kFewestRows)
      return written(EventsThatFit(timeline, kMaxSummaryBytes - std::min(bytes, kMaxSummaryBytes)));
    largest->rows.resize(std::max(kFewestRows, largest->rows.size() / 2));
  }
}

std::string CondenseAny(Tables& tables, const RunTrace& of) {
  if (of.role == Role::kPrimary && of.counts()) return Condense(tables, of);
  const Run alone(std::vector{of.trace});
  Tables its_tables(alone);
  return Condense(its_tables, alone.traces()[0]);
}

std::vector<const RunTrace*> WorthSummaries(const Run& run) {
  std::vector<const RunTrace*> worth = run.primary();
  for (const RunTrace* of : run.of_all_roles())
    if (std::ranges::count(worth, of) == 0) worth.push_back(of);
  return worth;
}

Result<Run> AllCondensed(const Run& run, Detail detail) {
  const auto is_summary = [](const RunTrace& of) { return of.trace->summary != nullptr; };
  if (std::ranges::none_of(run.traces(), is_summary) || std::ranges::all_of(run.traces(), is_summary)) return run;
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const RunTrace& of : run.traces()) {
    if (is_summary(of)) {
      traces.push_back(of.trace);
      continue;
    }
    const Run alone(std::vector{of.trace});
    Tables tables(alone);
    auto light = ReadSummary(Condense(tables, alone.traces()[0], detail));
    // A recording that is too long to be kept whole is condensed as a file is.
    if (!light && detail == Detail::kEvents) light = ReadSummary(Condense(tables, alone.traces()[0]));
    if (!light) return Unexpected{light.error()};
    traces.push_back(std::make_shared<const Trace>(*std::move(light)));
  }
  return Run(std::move(traces), {}, run.roles());
}

}  // namespace gapless::internal
