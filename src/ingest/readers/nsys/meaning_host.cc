// SPDX-License-Identifier: Apache-2.0
// The host side: calls of the CUDA runtime and driver, NVTX ranges, and the profiler's own overhead. Calls
// are sorted by thread and time in memory, O(n log n), to find those that were recorded twice.
#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/strings.h"
#include "ingest/readers/nsys/meaning.h"
#include "trace/lost_work.h"

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

// Reads start and end of a row in ns. Returns false without a usable time or for more than a day, and counts it.
// Slightly negative starts are kept: times count from the start of the session.
bool Meaning::TimeOf(int64_t start, int64_t end, Span& span) {
  ++tally_.events;
  const bool usable = start != kAbsent && end != kAbsent && end >= start && start >= -kMaxDurationNs &&
                      end <= INT64_MAX / 2 && end - start <= kMaxDurationNs;
  if (usable) span = {start, end - start};
  tally_.bad_times += usable ? 0 : 1;
  return usable;
}

// A device that reported no time left a start of 0.
bool Meaning::OpTimeOf(const Work& work, Span& span) {
  const int64_t bad_times = tally_.bad_times;
  const bool usable = TimeOf(work.start, work.end, span) && span.ts_ns > 0;
  tally_.bad_times = bad_times;
  tally_.ops_without_time += usable ? 0 : 1;
  return usable;
}

StringId Meaning::NameOf(int64_t text) {
  const auto [known, first] = names_.try_emplace(text, StringId::kNone);
  if (first)
    if (const std::string_view* found = facts_.texts.Find(text)) known->second = shard_.Text(*found);
  return known->second;
}

void Meaning::Add(const Call& row) {
  Span span;
  if (!TimeOf(row.start, row.end, span)) return;
  calls_.push_back(row);
  Own(row.global_tid);
}

void Meaning::AddCall(const Call& call, std::string_view name) {
  const auto [known, first] = calls_by_name_.try_emplace(call.name);
  if (first) known->second = {shard_.Name(name), ClassifyApi(name)};
  const int64_t global = call.global_tid == kAbsent ? 0 : call.global_tid;
  shard_.Add(SliceRow{.name = known->second.first,
                      .category = call.event_class == kDriverClass ? SliceCategory::kDriver : SliceCategory::kRuntime,
                      .api = known->second.second,
                      .pid = PidOf(global),
                      .tid = TidOf(global),
                      .ts_ns = call.start,
                      .dur_ns = call.end - call.start,
                      .correlation = correlations_.Unique(call.correlation, call.global_tid)});
}

// Older recordings hold one call twice, with and without the version in its name: the inner one is dropped, unless only
// it carries the correlation that launched something (then both carry it).
void Meaning::AddCalls(const std::vector<Meaning*>& all) {
  Meaning& first = *all.front();
  std::vector<Call> calls = std::move(first.calls_);
  for (size_t i = 1; i < all.size(); ++i) {
    calls.insert(calls.end(), all[i]->calls_.begin(), all[i]->calls_.end());
    std::vector<Call>().swap(all[i]->calls_);
  }
  const auto before = [](const Call& a, const Call& b) {
    return std::tie(a.global_tid, a.start, b.end, a.correlation) <
           std::tie(b.global_tid, b.start, a.end, b.correlation);
  };
  if (!std::ranges::is_sorted(calls, before)) std::ranges::stable_sort(calls, before);
  for (const Meaning* one : all) first.correlations_.Join(one->correlations_);
  const Call* outer = nullptr;
  std::string_view outer_name;
  for (const Call& call : calls) {
    const std::string_view* text = first.facts_.texts.Find(call.name);
    const std::string_view name = WithoutVersion(text == nullptr ? std::string_view("?") : *text);
    if (outer != nullptr && outer->global_tid == call.global_tid && call.end <= outer->end && name == outer_name &&
        outer->correlation == call.correlation) {
      ++first.tally_.nested_calls;
      continue;
    }
    outer = &call, outer_name = name;
    first.AddCall(call, name);
  }
}

// PyTorch's ranges say "aten::mm, op_id = 12, seq = 3, sizes = [[2, 3]]". Ranges that start and end anywhere do not
// nest with a thread's calls, so they have a row of their own. A range's text stands in the row itself, or, for
// registered strings, among the texts.
void Meaning::Add(const Range& range) {
  if (range.type != kPushPop && range.type != kStartEnd) return void(++tally_.other_nvtx);
  if (range.end == kAbsent) return void(++tally_.open_ranges);
  Span span;
  if (!TimeOf(range.start, range.end, span)) return;
  const std::string_view text = range.text.empty() ? facts_.texts.Of(range.text_id) : range.text;
  const int64_t global = range.global_tid == kAbsent ? 0 : range.global_tid;
  const size_t mark = std::min(text.find(", op_id = "), text.find(", seq = "));
  SliceRow row{.name = shard_.Name(text.substr(0, mark)),
               .category = SliceCategory::kAnnotation,
               .pid = PidOf(global),
               .tid = TidOf(global),
               .ts_ns = span.ts_ns,
               .dur_ns = span.dur_ns};
  Own(range.global_tid);
  if (range.type == kStartEnd) row.tid = -1, tally_.ranged_processes.insert(row.pid);
  if (mark != std::string_view::npos) {
    const std::string_view rest = text.substr(mark);
    row.category = SliceCategory::kOperator;
    row.sequence = NumberAfter(rest, "seq = ");
    if (const size_t sizes = rest.find("sizes = "); sizes != std::string_view::npos)
      row.input_shapes = shard_.Text(rest.substr(sizes + 8));
  }
  shard_.Add(row);
}

void Meaning::Add(const Overhead& overhead) {
  Span span;
  if (!TimeOf(overhead.start, overhead.end, span)) return;
  const int64_t global = overhead.global_tid == kAbsent ? 0 : overhead.global_tid;
  shard_.Add(SliceRow{.name = NameOf(overhead.name),
                      .category = SliceCategory::kOverhead,
                      .pid = PidOf(global),
                      .tid = TidOf(global),
                      .ts_ns = span.ts_ns,
                      .dur_ns = span.dur_ns});
}

}  // namespace gapless::internal::nsys
