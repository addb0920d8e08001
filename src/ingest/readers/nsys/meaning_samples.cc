// SPDX-License-Identifier: Apache-2.0
// Samples of threads on processors. They are gathered by all threads and become rows in the order of their times, so
// that the tree of frames does not depend on who read which block. Nsight Systems says when, and not for how long a
// sample stands: it has no weight.
#include <algorithm>
#include <tuple>

#include "ingest/readers/nsys/meaning.h"

namespace gapless::internal::nsys {
namespace {

constexpr int64_t kMaxTimeNs = int64_t{1} << 60;

}  // namespace

void Meaning::Add(CpuSample row) {
  ++tally_.events;
  if (row.time < 0 || row.time > kMaxTimeNs) return void(++tally_.bad_times);
  if (row.stack.empty()) return LeaveOut("COMPOSITE_EVENTS without a stack");
  samples_.push_back(std::move(row));
}

void Meaning::AddSamples(const std::vector<Meaning*>& all, TraceBuilder& builder) {
  std::vector<const CpuSample*> samples;
  for (const Meaning* one : all)
    for (const CpuSample& sample : one->samples_) samples.push_back(&sample);
  const auto key = [](const CpuSample* sample) { return std::tuple(sample->time, sample->global_tid); };
  std::ranges::stable_sort(samples, {}, key);
  const Texts& texts = all.front()->facts_.texts;
  TraceBuilder::Shard& shard = all.front()->shard_;
  for (const CpuSample* sample : samples) {
    StackId at{};
    for (size_t i = sample->stack.size(); i-- > 0;) {
      const CpuFrame& frame = sample->stack[i];
      at = builder.AddFrame({.parent = at, .file = texts.Of(frame.module), .function = texts.Of(frame.symbol)});
    }
    const int64_t tid = sample->global_tid == kAbsent ? kAbsent : TidOf(sample->global_tid);
    shard.Add(SampleRow{.ts_ns = sample->time, .tid = tid, .stack = at});
  }
  for (Meaning* one : all) std::vector<CpuSample>().swap(one->samples_);
}

}  // namespace gapless::internal::nsys
