// SPDX-License-Identifier: Apache-2.0
// Finds one-offs in one pass over the host slices, by name or by comparison with other calls of the same name. It keeps
// those during which no device works. Long slices may overlap without nesting, any number of them, so nothing is walked
// per slice: what is asked of one is derived for all when the first long slice asks.
#include "analyses/one_offs.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "trace/captures.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMinLaunchNs = 1'000'000, kMinLoadNs = 1'000'000, kMinCallNs = 5'000'000;
constexpr int64_t kTimesUsual = 20, kTimesOther = 10;
constexpr size_t kFewCalls = 3;

// Ranges in which frameworks record or capture a graph: "CUDAGraphNode.record (dynamo_timed)", and the engines' own
// "capture_32_FULL".
bool IsCapture(std::string_view name) {
  if (name.starts_with("CUDAGraphNode.record")) return true;
  return name.starts_with("capture_") && name.size() > 8 && name[8] >= '0' && name[8] <= '9';
}

OneOffKind KindOfName(std::string_view name) {
  if (IsCapture(name)) return OneOffKind::kCapture;
  return IsCompilation(name) ? OneOffKind::kCompilation : OneOffKind::kFirstCall;
}

// Calls that end when something else does: what they take says nothing of what they do.
bool Waits(ApiKind api) {
  return IsBlockingSync(api) || api == ApiKind::kMemcpy || api == ApiKind::kMemset || api == ApiKind::kFree ||
         api == ApiKind::kHostFree || api == ApiKind::kStreamWait || api == ApiKind::kEventQuery;
}

class Finder {
 public:
  Finder(const Trace& trace, const Intervals& busy) : trace_(trace), slices_(trace.slices), list_of_busy_(busy) {
    by_name_.resize(trace.strings.size(), OneOffKind::kFirstCall);
    for (size_t id = 0; id < by_name_.size(); ++id) by_name_[id] = KindOfName(trace.strings[static_cast<StringId>(id)]);
  }

  std::vector<OneOff> Find() {
    for (uint32_t row = 0; row < slices_.size(); ++row) Look(row);
    for (const std::vector<Capture>& of_thread : CapturesByThread(trace_))
      for (const Capture& capture : of_thread)
        found_.push_back({OneOffKind::kCapture, {capture.start_ns, capture.end_ns}, capture.begin});
    std::stable_sort(found_.begin(), found_.end(), [](const OneOff& a, const OneOff& b) {
      return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
    });
    int64_t until = std::numeric_limits<int64_t>::min();
    std::erase_if(found_, [&](const OneOff& one_off) {
      const bool inside = one_off.span.end <= until;
      until = std::max(until, one_off.span.end);
      return inside;
    });
    return std::move(found_);
  }

 private:
  void Look(uint32_t row) {
    const int64_t dur = slices_.dur_ns[row];
    if (dur < std::min(kMinLaunchNs, kMinLoadNs)) return;
    const Interval span{slices_.ts_ns[row], slices_.ts_ns[row] + dur};
    const OneOffKind named = by_name_[static_cast<uint32_t>(slices_.name[row])];
    if (named != OneOffKind::kFirstCall) return found_.push_back({named, span, SliceId(row)});
    const SliceCategory category = slices_.category[row];
    const ApiKind api = slices_.api[row];
    const bool is_call = category == SliceCategory::kRuntime || category == SliceCategory::kDriver;
    if (is_call && Waits(api)) return;
    if (is_call && api == ApiKind::kCompile) return found_.push_back({OneOffKind::kLoading, span, SliceId(row)});
    const bool is_mark = category == SliceCategory::kAnnotation;
    const int64_t self = is_call || is_mark ? dur : slices_.self_ns[row];
    const bool launches = is_call && IsLaunch(api);
    if (self < (launches ? kMinLaunchNs : kMinCallNs)) return;
    const bool loads = category == SliceCategory::kAnnotation && IsDataLoadingMark(trace_.Text(slices_.name[row]));
    if (!is_call && !loads && (category != SliceCategory::kOperator || !HoldsCall(row))) return;
    if (2 * IdleIn(span) >= dur && StandsOut(row, self)) found_.push_back({OneOffKind::kFirstCall, span, SliceId(row)});
  }

  int64_t IdleIn(Interval span) {
    if (!busy_) busy_.emplace(list_of_busy_);
    return span.length() - busy_->In(span);
  }

  // Returns true if a call of the runtime or driver begins within the slice, on its thread. An operator without any
  // computes on the host.
  bool HoldsCall(uint32_t row) {
    if (calls_.empty()) IndexCalls();
    const std::vector<uint32_t>& of_thread = calls_[slices_.thread[row].value];
    const auto next = std::upper_bound(of_thread.begin(), of_thread.end(), row);
    return next != of_thread.end() && slices_.ts_ns[*next] < slices_.ts_ns[row] + slices_.dur_ns[row];
  }

  void IndexCalls() {
    calls_.resize(trace_.threads.size());
    for (uint32_t row = 0; row < slices_.size(); ++row) {
      const SliceCategory category = slices_.category[row];
      if (category == SliceCategory::kRuntime || category == SliceCategory::kDriver)
        calls_[slices_.thread[row].value].push_back(row);
    }
  }

  // Is it far longer than others of its name, or the first of few?
  bool StandsOut(uint32_t row, int64_t ns) {
    if (!indexed_) Index();
    auto& [first, sorted, times] = of_name_[static_cast<uint32_t>(slices_.name[row])];
    if (!std::exchange(sorted, true)) std::sort(times.begin(), times.end());
    if (slices_.category[row] == SliceCategory::kAnnotation) return times.size() == 1;  // the only batch of a loader
    if (times.size() <= kFewCalls && first == row)
      return times.size() == 1 || ns >= kTimesOther * times[times.size() - 2];
    return ns >= kTimesUsual * times[times.size() / 4];
  }

  // Durations of calls and operators by name. Made for the first slice that is long, so most recordings need none, and
  // sorted for the names of such slices only.
  void Index() {
    indexed_ = true;
    of_name_.resize(trace_.strings.size());
    for (uint32_t row = 0; row < slices_.size(); ++row) {
      const SliceCategory category = slices_.category[row];
      const bool is_operator = category == SliceCategory::kOperator;
      const bool is_mark = category == SliceCategory::kAnnotation;
      if (!is_operator && !is_mark && category != SliceCategory::kRuntime && category != SliceCategory::kDriver)
        continue;
      auto& [first, sorted, times] = of_name_[static_cast<uint32_t>(slices_.name[row])];
      if (times.empty()) first = row;
      times.push_back(is_operator ? slices_.self_ns[row] : slices_.dur_ns[row]);
    }
  }

  const Trace& trace_;
  const SliceTable& slices_;
  const Intervals& list_of_busy_;
  std::optional<IntervalSums> busy_;          // made when it is first asked for
  std::vector<std::vector<uint32_t>> calls_;  // rows of calls by thread, made when first asked for
  std::vector<OneOffKind> by_name_;           // kind by name; kFirstCall for all other names
  struct OfName {
    uint32_t first = 0;  // row
    bool sorted = false;
    std::vector<int64_t> times{};
  };
  std::vector<OfName> of_name_;
  bool indexed_ = false;
  std::vector<OneOff> found_;
};

}  // namespace

std::vector<OneOff> FindOneOffs(const Trace& trace, const Intervals& busy) { return Finder(trace, busy).Find(); }

Intervals IdleInOneOffs(const std::vector<OneOff>& one_offs, const Intervals& busy) {
  Intervals spans;
  for (const OneOff& one_off : one_offs) AppendMerged(spans, one_off.span);
  return Subtract(spans, busy);
}

Intervals DeviceWork(const Trace& trace) {
  Intervals busy;
  const GpuOpTable& ops = trace.gpu_ops;
  for (size_t row = 0; row < ops.size(); ++row) AppendMerged(busy, {ops.ts_ns[row], ops.ts_ns[row] + ops.dur_ns[row]});
  return busy;
}

int64_t DeviceWorkNs(const Trace& trace) {
  UnionLength busy;
  const GpuOpTable& ops = trace.gpu_ops;
  for (size_t row = 0; row < ops.size(); ++row) busy.Add({ops.ts_ns[row], ops.ts_ns[row] + ops.dur_ns[row]});
  return busy.total();
}

}  // namespace gapless::internal
