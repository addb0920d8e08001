// SPDX-License-Identifier: Apache-2.0
// Sums the parts of each gap by cause, and names what the host had open in the longest part of the main one.
#include "analyses/idle_gaps.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/open_slice.h"
#include "analyses/rows/idle.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

using CauseSums = std::array<int64_t, kIdleCauses>;

struct Cause {
  CauseSums sums{};
  IdleCause main = IdleCause::kUnknown;
  uint32_t part = 0;  // the longest of the main cause
};

Cause CauseOf(const DeviceTimeline& device, const IdleGap& gap) {
  Cause cause;
  std::array<int64_t, kIdleCauses> longest{};
  std::array<uint32_t, kIdleCauses> at{};
  for (uint32_t part = gap.first_part; part < gap.first_part + gap.part_count; ++part) {
    const auto of = static_cast<size_t>(device.parts[part].cause);
    const int64_t length = device.PartEnd(gap, part) - device.parts[part].start;
    cause.sums[of] += length;
    if (length > longest[of]) longest[of] = length, at[of] = part;
  }
  const auto main = static_cast<size_t>(std::max_element(cause.sums.begin(), cause.sums.end()) - cause.sums.begin());
  cause.main = static_cast<IdleCause>(main);
  cause.part = at[main];
  return cause;
}

// Writes the rows of one device, whose gaps must be given in their order.
class Writer {
 public:
  Writer(TableOf<IdleRows>& table, const TraceTimeline& timeline, const DeviceTimeline& device)
      : table_(table), timeline_(timeline), trace_(timeline.trace()), device_(device) {}

  void Write(const IdleGap& gap, int64_t id) {
    const Cause cause = CauseOf(device_, gap);
    WriteRow(gap, id, cause, OpenIn(gap, cause));
  }

 private:
  // Returns the slice of the main part; where that is only an outer frame, the innermost one open in the middle of the
  // part. Gaps come in order, and so do these middles.
  SliceId OpenIn(const IdleGap& gap, const Cause& cause) {
    const IdlePart& part = device_.parts[cause.part];
    if (part.cause != IdleCause::kHost || !part.slice.valid()) return part.slice;
    const Interval span{part.start, device_.PartEnd(gap, cause.part)};
    if (!open_) open_.emplace(trace_);
    const SliceId found = open_->Innermost({Middle(span), trace_.slices.thread[part.slice.value]});
    return found.valid() ? found : part.slice;
  }

  // A search per gap: many devices with a gap each must not walk all steps each.
  int64_t StepOf(int64_t ts) const {
    const auto& steps = timeline_.window.steps;
    const auto at = std::ranges::upper_bound(steps, ts, {}, [](const StepWindow& step) { return step.span.end; });
    return at != steps.end() && at->span.start <= ts ? trace_.steps.number[at->step.value] : kAbsent;
  }

  void WriteRow(const IdleGap& gap, int64_t id, const Cause& cause, SliceId open) {
    const RunTrace& of = *timeline_.of;
    const SliceId launch = gap.next.valid() ? trace_.gpu_ops.launch[gap.next.value] : SliceId();
    const HostContext context = ContextOf(trace_, open);
    auto row = table_.Row(of);
    row.Set("id", id).Set("device", device_.device).Set("step", StepOf(gap.span.start));
    row.Set("ts_ns", gap.span.start + of.ts_shift_ns).Set("dur_ns", gap.span.length());
    row.Set("cause", kIdleCauseNames[static_cast<size_t>(cause.main)]);
    row.SetEach({"data_ns", "launch_ns", "sync_ns", "host_ns", "unknown_ns"}, cause.sums);
    row.Set("previous_id", of.Id(gap.previous)).Set("next_id", of.Id(gap.next)).Set("launch_id", of.Id(launch));
    row.Set("slice_id", of.Id(open)).Set("operator", context.operator_name).Set("annotation", context.annotation);
    row.Set("source_line", context.source_line);
  }

  TableOf<IdleRows>& table_;
  const TraceTimeline& timeline_;
  const Trace& trace_;
  const DeviceTimeline& device_;
  std::optional<OpenSlices> open_;  // made when first asked for: it takes memory per thread
};

// The gaps that have the most of one cause, the longest first.
class Longest {
 public:
  void Offer(int64_t ns, int64_t id) {
    if (ns <= 0 || (count_ == kLongestOfCause && ns <= kept_[count_ - 1].ns)) return;
    if (count_ < kLongestOfCause) ++count_;
    size_t at = count_ - 1;
    for (; at > 0 && kept_[at - 1].ns < ns; --at) kept_[at] = kept_[at - 1];
    kept_[at] = {ns, id};
  }
  void AddIds(std::vector<int64_t>& ids) const {
    for (size_t i = 0; i < count_; ++i) ids.push_back(kept_[i].id);
  }

 private:
  struct Kept {
    int64_t ns = 0, id = 0;
  };
  std::array<Kept, kLongestOfCause> kept_{};
  size_t count_ = 0;
};

std::vector<int64_t> LongestIds(std::span<const TraceTimeline> timelines) {
  std::array<Longest, kIdleCauses> longest;
  int64_t id = 0;
  for (const TraceTimeline& timeline : timelines)
    for (const DeviceTimeline& device : timeline.devices)
      for (const IdleGap& gap : device.gaps) {
        const Cause cause = CauseOf(device, gap);
        for (size_t of = 0; of < kIdleCauses; ++of) longest[of].Offer(cause.sums[of], id);
        ++id;
      }
  std::vector<int64_t> ids;
  for (const Longest& of_cause : longest) of_cause.AddIds(ids);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

void AddIdleRows(const TraceTimeline& timeline, TableOf<IdleRows>& table) {
  for (const DeviceTimeline& device : timeline.devices) {
    Writer writer(table, timeline, device);
    for (const IdleGap& gap : device.gaps) writer.Write(gap, static_cast<int64_t>(table.rows()));
  }
}

namespace {

Table LongestOf(std::span<const TraceTimeline> timelines) {
  TableOf<IdleRows> table;
  const std::vector<int64_t> ids = LongestIds(timelines);
  auto next = ids.begin();
  int64_t first = 0;  // id of the device's first gap
  for (const TraceTimeline& timeline : timelines)
    for (const DeviceTimeline& device : timeline.devices) {
      const auto end = first + static_cast<int64_t>(device.gaps.size());
      std::optional<Writer> writer;
      for (; next != ids.end() && *next < end; ++next) {
        if (!writer) writer.emplace(table, timeline, device);
        writer->Write(device.gaps[static_cast<size_t>(*next - first)], *next);
      }
      first = end;
    }
  return table;
}

std::vector<IdlePlace> PlacesIn(const SectionReader::Section& section) {
  std::vector<IdlePlace> places(section.rows());
  const auto operators = section.Texts("operator"), lines = section.Texts("source_line");
  for (size_t row = 0; row < places.size(); ++row)
    places[row].operator_name = operators[row], places[row].source_line = lines[row];
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    const std::vector<int64_t> ns = section.Ints(kIdleColumns[cause]);
    for (size_t row = 0; row < places.size(); ++row) places[row].ns[cause] = std::max<int64_t>(0, ns[row]);
  }
  return places;
}

int64_t SumOfCauses(const IdlePlace& place) { return std::accumulate(place.ns.begin(), place.ns.end(), int64_t{0}); }

std::vector<IdlePlace> PlacesIn(const TraceTimeline& timeline) {
  TableOf<IdleRows> all;
  AddIdleRows(timeline, all);
  const IdleRows idle{all};
  std::map<std::pair<std::string_view, std::string_view>, std::array<int64_t, kIdleCauses>> sums;
  constexpr IdleRows::IntColumn kColumns[kIdleCauses] = {"data_ns", "launch_ns", "sync_ns", "host_ns", "unknown_ns"};
  for (size_t gap = 0; gap < idle.rows(); ++gap) {
    auto& sum = sums[{idle.Text(gap, "operator"), idle.Text(gap, "source_line")}];
    for (size_t cause = 0; cause < kIdleCauses; ++cause) sum[cause] += idle.Int(gap, kColumns[cause]);
  }
  std::vector<IdlePlace> places;
  for (const auto& [place, ns] : sums) places.push_back({std::string(place.first), std::string(place.second), ns});
  std::ranges::stable_sort(places, std::greater(), SumOfCauses);
  return places;
}

}  // namespace

Table LongestIdleRows(Tables& tables) { return LongestOf(tables.Timelines()); }

Table LongestIdleRows(const TraceTimeline& timeline) { return LongestOf({&timeline, 1}); }

std::vector<IdlePlace> IdlePlacesOf(Tables& tables, int64_t trace) {
  for (const TraceTimeline& timeline : tables.Timelines()) {
    if (timeline.of->index != trace) continue;
    if (!timeline.trace().summary) return PlacesIn(timeline);
    const auto sections = ReadSummaryTables(timeline.trace());
    const auto* section = sections ? sections->Find(kIdlePlacesSection) : nullptr;
    return section == nullptr ? std::vector<IdlePlace>() : PlacesIn(*section);
  }
  return {};
}

}  // namespace gapless::internal
