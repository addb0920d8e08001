// SPDX-License-Identifier: Apache-2.0
// Reads the host side: calls of the CUDA runtime and driver, NVTX ranges, and the profiler's own overhead. Calls
// are sorted by thread and time in memory, O(n log n), to find those that were recorded twice.
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "ingest/readers/nsys/tables.h"

namespace gapless::internal::nsys {
namespace {

constexpr int64_t kMaxDurationNs = int64_t{86'400} * 1'000'000'000;  // a day: longer than any recording
constexpr int64_t kDriverClass = 1;
enum NvtxType : int64_t { kPushPop = 59, kStartEnd = 60 };

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
std::string_view WithoutVersion(std::string_view call) {
  const size_t at = call.rfind("_v");
  if (at == std::string_view::npos || at + 2 == call.size()) return call;
  const bool digits = std::ranges::all_of(call.substr(at + 2), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? call.substr(0, at) : call;
}

struct Call {
  int64_t thread, start, end, name, correlation, event_class;
};

// Returns the number after "key = ", or kAbsent.
int64_t NumberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  int64_t value = kAbsent;
  if (at == std::string_view::npos) return value;
  const char* from = text.data() + at + key.size();
  if (std::from_chars(from, text.data() + text.size(), value).ec != std::errc()) return kAbsent;
  return value;
}

}  // namespace

// Puts the number of the process into the bits above 40. Correlations that need more bits cannot be made distinct
// and are absent.
int64_t Ids::Correlation(int64_t correlation, int64_t global) {
  constexpr int kBits = 40;
  if (correlation < 0 || correlation >> kBits != 0) return kAbsent;  // also kAbsent itself
  const int64_t process = Process(global);
  if (process == kAbsent) return correlation;
  const int64_t index = index_.try_emplace(process, static_cast<int64_t>(index_.size())).first->second;
  return correlation + (index << kBits);
}

// Reads start and end of a row in ns. Returns false without a usable time or for more than a day. Slightly negative
// starts are kept: times count from the start of the session.
bool Importer::ReadSpan(const Rows& rows, int start, int end, Span& span) {
  const int64_t from = rows.Int(start), to = rows.Int(end);
  if (from == kAbsent || to == kAbsent || to < from || from < -kMaxDurationNs || to - from > kMaxDurationNs)
    return false;
  span = {from, to - from};
  return true;
}

bool Importer::TimeOf(const Rows& rows, int start, int end, Span& span) {
  ++events_;
  const bool usable = ReadSpan(rows, start, end, span);
  bad_times_ += usable ? 0 : 1;
  return usable;
}

bool Importer::OpTimeOf(const Rows& rows, int start, int end, Span& span) {
  ++events_;
  const bool usable = ReadSpan(rows, start, end, span) && span.ts_ns > 0;
  ops_without_time_ += usable ? 0 : 1;
  return usable;
}

StringId Importer::NameOf(int64_t string_id) {
  const auto known = names_.find(string_id);
  if (known != names_.end()) return known->second;
  const auto text = strings_.find(string_id);
  const StringId id = text == strings_.end() ? StringId::kNone : shard_.Text(text->second);
  names_.emplace(string_id, id);
  return id;
}

// Older exports hold one call twice, with and without the version in its name: the inner one is dropped, unless only it
// carries the correlation that launched something (then both carry it).
void Importer::ReadApiCalls() {
  auto rows = database_.Select("CUPTI_ACTIVITY_KIND_RUNTIME",
                               {"start", "end", "nameId", "globalTid", "correlationId", "eventClass"}, 3);
  std::vector<Call> calls;
  while (rows && rows->Next()) {
    Span span;
    if (!TimeOf(*rows, 0, 1, span)) continue;
    calls.push_back({rows->Int(3), span.ts_ns, span.ts_ns + span.dur_ns, rows->Int(2), rows->Int(4), rows->Int(5)});
  }
  std::ranges::stable_sort(calls, [](const Call& a, const Call& b) {
    return std::tie(a.thread, a.start, b.end) < std::tie(b.thread, b.start, a.end);
  });
  const Call* outer = nullptr;
  std::string_view outer_name;
  for (const Call& call : calls) {
    const auto text = strings_.find(call.name);
    const std::string_view name = WithoutVersion(text == strings_.end() ? std::string_view("?") : text->second);
    if (outer != nullptr && outer->thread == call.thread && call.end <= outer->end && name == outer_name &&
        outer->correlation == call.correlation) {
      ++nested_calls_;
      continue;
    }
    outer = &call, outer_name = name;
    const auto kind = api_kinds_.try_emplace(call.name, ApiKind::kNone);
    if (kind.second) kind.first->second = ClassifyApi(name);
    const int64_t global = call.thread == kAbsent ? 0 : call.thread;
    shard_.Add(SliceRow{.name = shard_.Name(name),
                        .category = call.event_class == kDriverClass ? SliceCategory::kDriver : SliceCategory::kRuntime,
                        .api = kind.first->second,
                        .pid = Ids::Pid(global),
                        .tid = Ids::Tid(global),
                        .ts_ns = call.start,
                        .dur_ns = call.end - call.start,
                        .correlation = ids_.Correlation(call.correlation, call.thread)});
  }
}

// Reads NVTX ranges. A range's text stands in the row itself, or, for registered strings, in the table of texts.
void Importer::ReadRanges() {
  auto rows = database_.Select("NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"}, 3);
  while (rows && rows->Next()) {
    const int64_t type = rows->Int(2);
    if (type != kPushPop && type != kStartEnd) {
      ++other_nvtx_;
      continue;
    }
    if (!rows->Has(1)) {
      ++open_ranges_;
      continue;
    }
    Span span;
    if (!TimeOf(*rows, 0, 1, span)) continue;
    std::string_view text = rows->Text(4);
    if (const auto known = strings_.find(rows->Int(5)); text.empty() && known != strings_.end()) text = known->second;
    AddRange(text, type, rows->Int(3) == kAbsent ? 0 : rows->Int(3), span);
  }
  for (const int64_t pid : ranged_processes_) builder_.NameThread(pid, -1, "NVTX start/end ranges");
}

// PyTorch's ranges say "aten::mm, op_id = 12, seq = 3, sizes = [[2, 3]]". Ranges that start and end anywhere do not
// nest with a thread's calls, so they have a row of their own.
void Importer::AddRange(std::string_view text, int64_t type, int64_t global_tid, Span span) {
  const size_t mark = std::min(text.find(", op_id = "), text.find(", seq = "));
  SliceRow row{.name = shard_.Name(text.substr(0, mark)),
               .category = SliceCategory::kAnnotation,
               .pid = Ids::Pid(global_tid),
               .tid = Ids::Tid(global_tid),
               .ts_ns = span.ts_ns,
               .dur_ns = span.dur_ns};
  if (type == kStartEnd) row.tid = -1, ranged_processes_.insert(row.pid);
  if (mark != std::string_view::npos) {
    const std::string_view rest = text.substr(mark);
    row.category = SliceCategory::kOperator;
    row.sequence = NumberAfter(rest, "seq = ");
    if (const size_t sizes = rest.find("sizes = "); sizes != std::string_view::npos)
      row.input_shapes = Interned(rest.substr(sizes + 8));
  }
  shard_.Add(row);
}

void Importer::ReadOverhead() {
  auto rows = database_.Select("PROFILER_OVERHEAD", {"start", "end", "nameId", "globalTid"}, 3);
  while (rows && rows->Next()) {
    Span span;
    if (!TimeOf(*rows, 0, 1, span)) continue;
    const int64_t global = rows->Int(3) == kAbsent ? 0 : rows->Int(3);
    shard_.Add(SliceRow{.name = NameOf(rows->Int(2)),
                        .category = SliceCategory::kOverhead,
                        .pid = Ids::Pid(global),
                        .tid = Ids::Tid(global),
                        .ts_ns = span.ts_ns,
                        .dur_ns = span.dur_ns});
  }
}

}  // namespace gapless::internal::nsys
