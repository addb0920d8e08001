// SPDX-License-Identifier: Apache-2.0
// Pairs the calls that begin and end a graph capture on each thread.
#include "trace/captures.h"

#include <string_view>

namespace gapless::internal {
namespace {

enum class CaptureCall : uint8_t { kNone, kBegin, kEnd, kInstantiate };

CaptureCall CaptureCallOf(std::string_view name) {
  if (!name.starts_with("cu") && !name.starts_with("hip")) return CaptureCall::kNone;
  if (name.find("StreamBeginCapture") != name.npos) return CaptureCall::kBegin;
  if (name.find("StreamEndCapture") != name.npos) return CaptureCall::kEnd;
  if (name.find("GraphInstantiate") != name.npos) return CaptureCall::kInstantiate;
  return CaptureCall::kNone;
}

}  // namespace

std::vector<std::vector<Capture>> CapturesByThread(const Trace& trace) {
  std::vector<CaptureCall> by_name(trace.strings.size(), CaptureCall::kNone);
  bool any = false;
  for (size_t id = 0; id < by_name.size(); ++id) {
    by_name[id] = CaptureCallOf(trace.strings[static_cast<StringId>(id)]);
    any |= by_name[id] != CaptureCall::kNone;
  }
  if (!any) return {};
  const SliceTable& slices = trace.slices;
  std::vector<std::vector<Capture>> captures(trace.threads.size());
  std::vector<SliceId> begun(trace.threads.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    const CaptureCall call = by_name[static_cast<uint32_t>(slices.name[row])];
    if (call == CaptureCall::kNone) continue;
    const uint32_t thread = slices.thread[row].value;
    const int64_t start = slices.ts_ns[row], end = start + slices.dur_ns[row];
    if (call == CaptureCall::kBegin) {
      begun[thread] = SliceId(row);
    } else if (!begun[thread].valid()) {
      if (call == CaptureCall::kInstantiate) captures[thread].push_back({start, end, SliceId(row)});
    } else if (call == CaptureCall::kEnd) {
      captures[thread].push_back({slices.ts_ns[begun[thread].value], end, begun[thread]});
      begun[thread] = SliceId();
    }
  }
  return captures;
}

}  // namespace gapless::internal
