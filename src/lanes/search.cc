// SPDX-License-Identifier: Apache-2.0
// Texts are interned, so each distinct one is looked at once in a recording, however many events have it.
#include "lanes/search.h"

#include <algorithm>
#include <optional>

#include "base/pattern.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

class NameTest {
 public:
  static Result<NameTest> Make(std::string_view text) {
    NameTest test;
    test.text_ = text;
    if (!text.starts_with("re:")) return test;
    GAPLESS_ASSIGN(test.pattern_, Pattern::Make(text.substr(3), "q"));
    return test;
  }
  bool Holds(std::string_view name) const { return pattern_ ? pattern_->IsIn(name) : ContainsIgnoreCase(name, text_); }

 private:
  std::string text_;
  std::optional<Pattern> pattern_;
};

class Searcher {
 public:
  Searcher(const NameTest& test, size_t most) : test_(test), most_(most) {}

  void AddTrace(const TraceLanes& lanes) {
    const Trace& trace = *lanes.of().trace;
    if (trace.summary) return;
    lanes_ = &lanes;
    known_.clear();
    Scan(trace.gpu_ops, "gpu_op", lanes.of().base.gpu_op, [&](uint32_t row) { return lanes.LaneOf(GpuOpId(row)); });
    Scan(trace.slices, "slice", lanes.of().base.slice, [&](uint32_t row) { return lanes.LaneOf(SliceId(row)); });
    Scan(trace.gpu_annotations, "annotation", lanes.of().base.gpu_annotation,
         [&](uint32_t) { return lanes.FirstOf(LaneKind::kAnnotations); });
    const OsCallTable& calls = trace.os_calls;
    const size_t first = found_.hits.size();
    Scan(calls, "os_call", 0, [&](uint32_t row) { return lanes.LaneOf(LaneKind::kCalls, calls.tid[row]); });
    const size_t before = found_.hits.size();
    for (size_t i = first; i < before; ++i) found_.hits[i].id = -1;
    Scan(trace.steps, "step", 0, [&](uint32_t) { return lanes.FirstOf(LaneKind::kSteps); });
    for (size_t i = before; i < found_.hits.size(); ++i)
      found_.hits[i].id = trace.steps.number[static_cast<size_t>(found_.hits[i].id)];
    Cut();
  }

  SearchHits Take() { return std::move(found_); }

 private:
  bool Matches(StringId name) {
    const auto at = static_cast<size_t>(name);
    if (at >= known_.size()) known_.resize(std::max(at + 1, 2 * known_.size()), Known::kNot);
    if (known_[at] == Known::kNot) known_[at] = test_.Holds(lanes_->of().trace->Text(name)) ? Known::kYes : Known::kNo;
    return known_[at] == Known::kYes;
  }

  template <class Table, class Lane>
  void Scan(const Table& table, std::string_view kind, int64_t base, Lane&& lane_of) {
    size_t taken = 0;
    for (uint32_t row = 0; row < table.size(); ++row) {
      if (!Matches(table.name[row])) continue;
      const auto* lane = taken < most_ ? lane_of(row) : nullptr;
      ++found_.total;
      if (lane == nullptr) continue;
      ++taken;
      found_.hits.push_back({lanes_->of().index, lane->about.lane, kind, base + row,
                             lanes_->of().trace->Text(table.name[row]), table.ts_ns[row] + lanes_->of().ts_shift_ns,
                             table.dur_ns[row]});
    }
  }

  void Cut() {
    std::ranges::stable_sort(found_.hits, {}, &SearchHit::ts_ns);
    if (found_.hits.size() > most_) found_.hits.resize(most_);
  }

  enum class Known : uint8_t { kNot, kYes, kNo };
  const NameTest& test_;
  size_t most_;
  const TraceLanes* lanes_ = nullptr;
  std::vector<Known> known_;
  SearchHits found_;
};

}  // namespace

Result<SearchHits> SearchEvents(const RunLanes& lanes, std::string_view text, size_t most) {
  if (text.empty()) return SearchHits{};
  GAPLESS_ASSIGN(const auto test, NameTest::Make(text));
  Searcher searcher(test, most);
  for (const auto& trace : lanes.traces()) searcher.AddTrace(*trace);
  return searcher.Take();
}

}  // namespace gapless::internal
