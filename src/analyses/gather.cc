// SPDX-License-Identifier: Apache-2.0
// Copies the columns of each summary that the analysis has today, by their names.
#include "analyses/gather.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "analyses/analysis.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "trace/summary.h"
#include "trace/summary_file.h"
#include "trace/table.h"

namespace gapless::internal {
namespace {

constexpr size_t kUnpackedAtOnce = 64;  // summaries, of about 100 kB each
constexpr std::string_view kTraceName = "trace", kRankName = "rank", kTimeName = "ts_ns", kIdleName = "idle",
                           kOrdinalName = "id";

// A table that is filled column by column from sections; each row still is one of AddRow.
class Gathered : public Table {
 public:
  using Table::Table;

  void AddRows(const SectionReader::Section& section, const RunTrace& of, int64_t idle_rows) {
    struct Cells {
      std::vector<int64_t> ints{};
      std::vector<double> reals{};
      std::vector<std::string_view> texts{};
      int64_t base = 0;
      std::optional<int64_t> of_run{};  // the same in each row: which recording it is, and its rank
    };
    std::vector<Cells> cells(columns().size());
    for (size_t at = 0; at < cells.size(); ++at) {
      const ColumnSpec& column = columns()[at];
      if (IsOfRun(column)) {
        cells[at].of_run = column.name == kTraceName ? of.index : of.rank();
        continue;
      }
      cells[at].base = name() == kIdleName && column.name == kOrdinalName ? idle_rows : BaseInRun(column, of);
      switch (column.type) {
        case ColumnType::kInt: cells[at].ints = section.Ints(column.name); break;
        case ColumnType::kReal: cells[at].reals = section.Reals(column.name); break;
        case ColumnType::kText: cells[at].texts = section.Texts(column.name); break;
      }
    }
    for (size_t row = 0; row < section.rows(); ++row) {
      AddRow();
      for (size_t at = 0; at < cells.size(); ++at) {
        const auto column = static_cast<int>(at);
        const Cells& of_column = cells[at];
        if (of_column.of_run) SetInt(column, *of_column.of_run);
        if (!of_column.ints.empty())
          SetInt(column, of_column.ints[row] == kAbsent ? kAbsent : of_column.ints[row] + of_column.base);
        if (!of_column.reals.empty()) SetReal(column, of_column.reals[row]);
        if (!of_column.texts.empty()) SetText(column, of_column.texts[row]);
      }
    }
  }
};

Interval IntervalOf(SummarySpan span) { return {span.first, span.second}; }

}  // namespace

bool IsOfRun(const ColumnSpec& column) { return column.name == kTraceName || column.name == kRankName; }

int64_t BaseInRun(const ColumnSpec& column, const RunTrace& of) {
  struct Target {
    std::string_view unit;
    int64_t IdBase::*base;
  };
  constexpr Target kTargets[] = {{"id:slice", &IdBase::slice},
                                 {"id:gpu_op", &IdBase::gpu_op},
                                 {"id:gpu_annotation", &IdBase::gpu_annotation},
                                 {"id:sync", &IdBase::sync},
                                 {"id:collective", &IdBase::collective},
                                 {"id:step", &IdBase::step},
                                 {"id:memory_event", &IdBase::memory_event},
                                 {"id:stack", &IdBase::stack}};
  if (column.name == kTimeName) return of.ts_shift_ns;
  for (const auto& [unit, base] : kTargets)
    if (column.unit == unit) return of.base.*base;
  return 0;
}

std::string SectionOfTable(std::string_view analysis) { return StrCat("table.", analysis); }

std::vector<Table> GatherTables(const Run& run, std::span<const Analysis* const> analyses, size_t threads) {
  std::vector<Gathered> gathered;
  gathered.reserve(analyses.size());
  for (const Analysis* analysis : analyses)
    gathered.emplace_back(analysis->name, std::vector(analysis->columns.begin(), analysis->columns.end()));
  const std::vector<const RunTrace*> primary = run.primary();
  ThreadPool pool(threads);
  int64_t idle_rows = 0;
  for (size_t first = 0; first < primary.size(); first += kUnpackedAtOnce) {
    const auto some = std::span(primary).subspan(first, std::min(kUnpackedAtOnce, primary.size() - first));
    std::vector<std::optional<SectionReader>> sections(some.size());
    std::vector<int64_t> idle_before;
    for (const RunTrace* of : some) idle_before.push_back(idle_rows), idle_rows += of->trace->summary->idle_rows;
    pool.ParallelFor(some.size(), [&](size_t i) {
      if (auto read = ReadSummaryTables(*some[i]->trace)) sections[i].emplace(*std::move(read));
    });
    pool.ParallelFor(gathered.size(), [&](size_t table) {
      const std::string name = SectionOfTable(gathered[table].name());
      for (size_t i = 0; i < some.size(); ++i)
        if (const auto* section = sections[i] ? sections[i]->Find(name) : nullptr)
          gathered[table].AddRows(*section, *some[i], idle_before[i]);
    });
  }
  return {std::make_move_iterator(gathered.begin()), std::make_move_iterator(gathered.end())};
}

CollectivesScale::CollectivesScale(const Trace& trace) {
  if (trace.summary && trace.collectives.size() > 0)
    factor_ = static_cast<double>(trace.summary->rows.collective) / static_cast<double>(trace.collectives.size());
}

int64_t CollectivesScale::operator()(int64_t sum) const {
  return sum == kAbsent || factor_ <= 1 ? sum : std::llround(static_cast<double>(sum) * factor_);
}

Window WindowOf(const TraceSummary& summary) {
  Window window;
  window.span = IntervalOf(summary.window), window.host = IntervalOf(summary.host);
  for (const SummaryStep& step : summary.steps) window.steps.push_back({step.step, IntervalOf(step.span)});
  window.one_off_idle_ns = summary.one_off_idle_ns;
  return window;
}

TraceTimeline TimelineOf(const RunTrace& of) {
  const TraceSummary& summary = *of.trace->summary;
  TraceTimeline timeline;
  timeline.of = &of, timeline.window = WindowOf(summary);
  for (const SummaryDevice& device : summary.devices) {
    DeviceTimeline& its = timeline.devices.emplace_back();
    its.device = device.device;
    for (const SummarySpan& span : device.exposed_communication) its.exposed_communication.push_back(IntervalOf(span));
  }
  return timeline;
}

}  // namespace gapless::internal
