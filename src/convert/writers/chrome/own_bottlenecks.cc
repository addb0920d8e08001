// SPDX-License-Identifier: Apache-2.0
// Writes bottlenecks as tracks. Each bottleneck is a thread, in the order of the ranked list: one slice over all
// of it that says what it is and what to do, and below it the rows that its evidence names. Where those overlap,
// the thread has more lanes.
#include <algorithm>

#include "analyses/rows/idle.h"
#include "base/strings.h"
#include "convert/writers/chrome/own.h"
#include "convert/writers/chrome/surroundings.h"

namespace gapless::internal::chrome {
namespace {

// A Shown is one row of the evidence: its time in the trace, and the lane that it is drawn in.
struct Shown {
  int64_t ts_ns = 0, dur_ns = 0;
  const Evidence* evidence = nullptr;
  int64_t row = 0;
  size_t lane = 0;
};

// RowTimes finds where rows of a table with ids lie in time, in this trace.
class RowTimes {
 public:
  explicit RowTimes(const Job& job) : job_(job), idle_(job.input.tables->Get<IdleRows>()) {}

  // False: it is no row of this trace that has a time.
  bool Find(std::string_view table, int64_t id, Shown& found) const {
    const Trace& trace = job_.trace();
    const IdBase& base = job_.of.base;
    if (table == "idle") return FindIdle(id, found);
    if (table == "gpu_op") return Take(trace.gpu_ops, id - base.gpu_op, found);
    if (table == "slice") return Take(trace.slices, id - base.slice, found);
    if (table == "sync") return Take(trace.syncs, id - base.sync, found);
    if (table == "collective") return Take(trace.collectives, id - base.collective, found);
    return false;
  }

 private:
  template <class TableType>
  static bool Take(const TableType& table, int64_t row, Shown& found) {
    if (row < 0 || row >= static_cast<int64_t>(table.size())) return false;
    found.ts_ns = table.ts_ns[static_cast<size_t>(row)];
    found.dur_ns = table.dur_ns[static_cast<size_t>(row)];
    return true;
  }
  bool FindIdle(int64_t id, Shown& found) const {
    if (id < 0 || id >= static_cast<int64_t>(idle_.rows())) return false;
    const auto row = static_cast<size_t>(id);  // ids of this analysis are ordinals
    if (idle_.Int(row, "trace") != job_.of.index) return false;
    found.ts_ns = idle_.Int(row, "ts_ns") - job_.of.ts_shift_ns;
    found.dur_ns = idle_.Int(row, "dur_ns");
    return true;
  }

  const Job& job_;
  IdleRows idle_;
};

// Returns the evidence's rows that lie in this trace and in the windows, ordered so that outer rows come before
// the inner ones that start with them.
std::vector<Shown> RowsOf(const Bottleneck& bottleneck, const RowTimes& times, const Job& job) {
  std::vector<Shown> shown;
  for (const Evidence& evidence : bottleneck.evidence)
    for (const int64_t id : evidence.rows) {
      Shown one{.evidence = &evidence, .row = id};
      if (times.Find(evidence.table, id, one) && job.Within(one.ts_ns)) shown.push_back(one);
    }
  std::ranges::stable_sort(shown, [](const Shown& a, const Shown& b) {
    return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.dur_ns > b.dur_ns;
  });
  return shown;
}

// Slices of one lane nest or follow each other. Gives the number of lanes; they are few, as evidence is.
size_t AssignLanes(std::vector<Shown>& shown) {
  std::vector<std::vector<int64_t>> open;  // ends of the open slices of each lane, outermost first
  for (Shown& item : shown) {
    const int64_t end = item.ts_ns + item.dur_ns;
    for (item.lane = 0; item.lane < open.size(); ++item.lane) {
      auto& ends = open[item.lane];
      while (!ends.empty() && ends.back() <= item.ts_ns) ends.pop_back();
      if (ends.empty() || end <= ends.back()) break;
    }
    if (item.lane == open.size()) open.emplace_back();
    open[item.lane].push_back(end);
  }
  return std::max<size_t>(open.size(), 1);
}

// The analysed window, and all that is shown.
Interval SpanOf(const Job& job, const std::vector<Shown>& shown) {
  Interval span{INT64_MAX, INT64_MIN};
  if (job.windows != nullptr && !job.windows->empty()) span = {job.windows->front().start, job.windows->back().end};
  for (const TraceTimeline& timeline : job.input.tables->Timelines())
    if (timeline.of == &job.of && job.windows == nullptr) span = timeline.window.span;
  for (const Shown& item : shown) {
    span.start = std::min(span.start, item.ts_ns);
    span.end = std::max(span.end, item.ts_ns + item.dur_ns);
  }
  return span.start < span.end ? span : Interval{0, std::max<int64_t>(job.trace().info.dur_ns, 1)};
}

void WriteWhole(const Job& job, const Bottleneck& bottleneck, Place place, Interval span) {
  Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory).Name(bottleneck.title);
  out.At(place, span.start).Dur(span.length());
  out.Arg("rule", bottleneck.id).Arg("type", ToString(bottleneck.type)).Arg("severity", bottleneck.severity);
  if (bottleneck.share_of_step) out.Arg("share_of_step", *bottleneck.share_of_step);
  if (bottleneck.gain)
    out.Arg("gain", bottleneck.gain->expected)
        .Arg("gain low", bottleneck.gain->low)
        .Arg("gain high", bottleneck.gain->high);
  out.Arg("description", bottleneck.description);
  for (size_t i = 0; i < bottleneck.recommendations.size(); ++i)
    out.Arg(StrCat("do ", i + 1), bottleneck.recommendations[i].text);
  for (size_t i = 0; i < bottleneck.evidence.size(); ++i)
    out.Arg(StrCat("evidence ", i + 1), bottleneck.evidence[i].text);
  out.End();
}

// Writes the lanes of one bottleneck. One whose rows all belong to other ranks is left out of this rank's tracks.
void WriteOne(const Job& job, const RowTimes& times, const Bottleneck& bottleneck, size_t number, int64_t& next_tid) {
  std::vector<Shown> shown = RowsOf(bottleneck, times, job);
  const bool points =
      std::ranges::any_of(bottleneck.evidence, [](const Evidence& evidence) { return !evidence.rows.empty(); });
  if (shown.empty() && points && job.input.traces.size() > 1) return;  // its rows are other ranks'
  const size_t lanes = AssignLanes(shown);
  const int64_t first_tid = next_tid;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const Place place{job.places.own_pid, next_tid++};
    WriteName(job.out, "thread_name", place, StrCat(number, " ", bottleneck.title, lane == 0 ? "" : " …"));
    WriteOrder(job.out, "thread_sort_index", place, place.tid);
  }
  WriteWhole(job, bottleneck, {job.places.own_pid, first_tid}, SpanOf(job, shown));
  for (const Shown& item : shown) {
    Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory).Name(item.evidence->text);
    out.At({job.places.own_pid, first_tid + static_cast<int64_t>(item.lane)}, item.ts_ns).Dur(item.dur_ns);
    out.Arg("rule", bottleneck.id).Arg("table", item.evidence->table).Arg("row", item.row);
    if (item.evidence->value) out.Arg("value", *item.evidence->value).Arg("unit", item.evidence->unit);
    out.Arg("source_line", item.evidence->source).End();
  }
}

}  // namespace

bool WriteBottlenecks(const Job& job) {
  const RowTimes times(job);
  int64_t next_tid = kBottleneckTid;
  size_t number = 0;
  for (const Bottleneck& bottleneck : job.input.advice->diagnosis().bottlenecks)
    WriteOne(job, times, bottleneck, ++number, next_tid);
  return job.GoOn(0);
}

}  // namespace gapless::internal::chrome
