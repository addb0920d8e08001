// SPDX-License-Identifier: Apache-2.0
// Details are the columns of the event's table in SQL. Links are found by walking the tables of its recording: a click
// may take some milliseconds, an index over all rows would take memory.
#include "serve/event.h"

#include <algorithm>

#include "analyses/collective_match.h"
#include "base/strings.h"
#include "query/sql_table.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostLinks = 200;

// An operation or a slice, as a row of its recording.
struct Place {
  const TraceLanes* lanes = nullptr;
  bool on_device = false;
  uint32_t row = 0;

  const RunTrace& of() const { return lanes->of(); }
  const Trace& trace() const { return *of().trace; }
};

std::string_view KindOf(const Place& at) { return at.on_device ? "gpu_op" : "slice"; }

std::optional<Place> Find(const RunLanes& lanes, bool on_device, int64_t id) {
  for (const auto& trace : lanes.traces()) {
    const IdBase& base = trace->of().base;
    const int64_t row = id - (on_device ? base.gpu_op : base.slice);
    const Trace& of = *trace->of().trace;
    const auto rows = static_cast<int64_t>(on_device ? of.gpu_ops.size() : of.slices.size());
    if (row >= 0 && row < rows && !of.summary) return Place{trace.get(), on_device, static_cast<uint32_t>(row)};
  }
  return {};
}

// Fills what a link and the event itself have in common.
template <class Out>
void Describe(const Place& at, Out& out) {
  const Trace& trace = at.trace();
  const Lane* lane = at.on_device ? at.lanes->LaneOf(GpuOpId(at.row)) : at.lanes->LaneOf(SliceId(at.row));
  out.kind = KindOf(at);
  out.id = at.on_device ? at.of().Id(GpuOpId(at.row)) : at.of().Id(SliceId(at.row));
  out.trace = at.of().index;
  if (lane != nullptr) out.lane = lane->about.lane;
  out.name = trace.Text(at.on_device ? trace.gpu_ops.name[at.row] : trace.slices.name[at.row]);
  out.ts_ns = (at.on_device ? trace.gpu_ops.ts_ns[at.row] : trace.slices.ts_ns[at.row]) + at.of().ts_shift_ns;
  out.dur_ns = at.on_device ? trace.gpu_ops.dur_ns[at.row] : trace.slices.dur_ns[at.row];
}

void AddDetails(const RunLanes& lanes, const Place& at, ServedEvent& event) {
  const auto table = std::ranges::find(AllSqlTables(), KindOf(at), [](const SqlTable* one) { return one->name; });
  const SqlRow row{&lanes.run(), &at.of(), at.row};
  for (const SqlColumn& column : (*table)->columns) {
    const SqlValue value = column.get(row);
    if (value.kind == SqlValue::Kind::kNull) continue;
    EventDetail detail{column.name, {}, column.unit, column.help};
    if (value.kind == SqlValue::Kind::kInt) detail.value = value.integer;
    if (value.kind == SqlValue::Kind::kReal) detail.value = value.real;
    if (value.kind == SqlValue::Kind::kText) detail.value = std::string(value.text);
    event.details.push_back(std::move(detail));
  }
}

class Linker {
 public:
  Linker(const RunLanes& lanes, const Place& at, ServedEvent& event) : lanes_(lanes), at_(at), event_(event) {}

  void AddAll() {
    if (at_.on_device) {
      AddSlice("launched by", at_.trace().gpu_ops.launch[at_.row]);
    } else {
      AddLaunched();
    }
    AddWaits();
    AddCollective();
  }

 private:
  void Add(std::string_view what, const Place& to) {
    if (event_.links.size() >= kMostLinks) return;
    EventLink link;
    Describe(to, link);
    link.what = what;
    event_.links.push_back(link);
  }
  void AddSlice(std::string_view what, SliceId row) {
    if (row.valid()) Add(what, {at_.lanes, false, row.value});
  }
  void AddOp(std::string_view what, GpuOpId row) {
    if (row.valid()) Add(what, {at_.lanes, true, row.value});
  }

  void AddLaunched() {
    const GpuOpTable& ops = at_.trace().gpu_ops;
    for (uint32_t row = 0; row < ops.size(); ++row)
      if (ops.launch[row] == SliceId(at_.row)) AddOp("launched", GpuOpId(row));
  }

  // A call waited for an operation, or an operation was waited for by a call.
  void AddWaits() {
    const SyncTable& syncs = at_.trace().syncs;
    for (size_t row = 0; row < syncs.size(); ++row) {
      if (!at_.on_device && syncs.slice[row] == SliceId(at_.row)) AddOp("waited for", syncs.waited_gpu_op[row]);
      if (at_.on_device && syncs.waited_gpu_op[row] == GpuOpId(at_.row)) AddSlice("waited for", syncs.slice[row]);
    }
  }

  // The row of a collective that this event is; none: it is none.
  static std::optional<size_t> CollectiveOf(const Place& at) {
    const CollectiveTable& collectives = at.trace().collectives;
    for (size_t row = 0; row < collectives.size(); ++row) {
      const bool is_it = at.on_device ? collectives.gpu_op[row] == GpuOpId(at.row)
                                      : collectives.slice[row] == SliceId(at.row) && !collectives.gpu_op[row].valid();
      if (is_it) return row;
    }
    return {};
  }

  // The same collective on other ranks has the same ordinal in a group of the same name, device or host alike.
  void AddCollective() {
    const std::optional<size_t> own = CollectiveOf(at_);
    if (!own) return;
    const std::vector<const RunTrace*> primary = lanes_.run().primary();
    const CollectiveMatches& matches = lanes_.tables().OnceForRun(MatchPrimary);
    const auto place = std::ranges::find(primary, &at_.of()) - primary.begin();
    if (static_cast<size_t>(place) >= matches.size()) return;
    const int64_t ordinal = matches[static_cast<size_t>(place)][*own].ordinal;
    if (ordinal == kAbsent) return;
    const CollectiveTable& ours = at_.trace().collectives;
    const std::string_view group = at_.trace().Text(ours.group[*own]), kind = at_.trace().Text(ours.kind[*own]);
    for (size_t i = 0; i < primary.size() && i < matches.size(); ++i) {
      const TraceLanes* other = lanes_.Of(primary[i]->index);
      if (other == nullptr || other == at_.lanes) continue;
      const CollectiveTable& collectives = primary[i]->trace->collectives;
      for (size_t row = 0; row < collectives.size(); ++row) {
        if (matches[i][row].ordinal != ordinal || primary[i]->trace->Text(collectives.group[row]) != group ||
            primary[i]->trace->Text(collectives.kind[row]) != kind)
          continue;
        const GpuOpId op = collectives.gpu_op[row];
        const SliceId slice = collectives.slice[row];
        if (op.valid() != at_.on_device || (!op.valid() && !slice.valid())) continue;
        Add("same collective", {other, op.valid(), op.valid() ? op.value : slice.value});
      }
    }
  }

  const RunLanes& lanes_;
  const Place& at_;
  ServedEvent& event_;
};

}  // namespace

Result<ServedEvent> EventOf(const RunLanes& lanes, std::string_view kind, int64_t id) {
  if (kind != "gpu_op" && kind != "slice")
    return Fail(ErrorCode::kUsage, "kind is gpu_op or slice", "", "the lane of an event says which");
  const std::optional<Place> at = Find(lanes, kind == "gpu_op", id);
  if (!at) return Fail(ErrorCode::kUsage, StrCat("there is no ", kind, " with the id ", id));
  ServedEvent event;
  Describe(*at, event);
  AddDetails(lanes, *at, event);
  Linker(lanes, *at, event).AddAll();
  return event;
}

}  // namespace gapless::internal
