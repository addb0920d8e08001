// SPDX-License-Identifier: Apache-2.0
// A small training written down operation by operation, and what a what-if makes of it.
//
// The host takes 5 µs for an operator with a kernel: 1 before the launch, 2 in it, 1 after it, 1 until the next. A
// kernel starts 4 µs after its launch began, or 1 µs after the one before on its stream. So with kernels far longer
// than 5 µs a step takes what its kernels take, and what a what-if takes from them is what a step saves.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/testing/hand_made.h"
#include "predict/fix.h"
#include "predict/step_time.h"

namespace gapless::internal::testing {

inline constexpr int64_t kUs = 1000;
inline constexpr int64_t kCompute = 7, kExchange = 20;  // streams

struct KernelOf {
  std::string_view op{};  // operator; "": none of its own
  int64_t us = 100;
  GpuOpClass op_class = GpuOpClass::kOther;
  MatrixUnit unit = MatrixUnit::kUnknown;
  HandMade::Inputs inputs{};
  std::string_view name = "kernel";
  int64_t ns = 0;  // instead of `us`
  float blocks_per_sm = kNanF;
};

class Program {
 public:
  HandMade& made() { return *made_; }

  // Makes this rank one of `world` ranks.
  Program& Rank(int64_t rank, int32_t ranks) {
    made_->Rank(rank);
    ranks_ = ranks;
    return *this;
  }
  Program& Kernel(const KernelOf& kernel_of, int64_t stream = kCompute) {
    GpuOpDraft row{.op_class = kernel_of.op_class, .matrix_unit = kernel_of.unit, .stream = stream};
    row.blocks_per_sm = kernel_of.blocks_per_sm;
    const int64_t begin = host_, start = StartOn(stream),
                  end = start + (kernel_of.ns > 0 ? kernel_of.ns : kernel_of.us * kUs);
    made_->Kernel(kernel_of.name, {begin + kUs, begin + 3 * kUs, start, end}, row);
    device_[stream] = end;
    if (!kernel_of.op.empty()) made_->OperatorOn(kernel_of.op, begin, begin + 4 * kUs, kernel_of.inputs);
    host_ += 5 * kUs;
    return *this;
  }
  // A kernel on the compute stream with the launch numbers of `row`, and no operator of its own.
  Program& KernelOf(std::string_view name, int64_t us, GpuOpDraft row) {
    const int64_t begin = host_, start = StartOn(kCompute), end = start + us * kUs;
    row.stream = kCompute;
    made_->Kernel(name, {begin + kUs, begin + 3 * kUs, start, end}, row);
    device_[kCompute] = end;
    host_ += 5 * kUs;
    return *this;
  }
  // A copy of a batch; from pageable memory the call returns 1 µs after it.
  Program& Copy(CopyKind kind, int64_t us, int64_t stream = kCompute, int64_t bytes = kAbsent) {
    const int64_t begin = host_, start = StartOn(stream), end = start + us * kUs;
    const bool blocks = kind == CopyKind::kHtoDPageable || kind == CopyKind::kDtoHPageable;
    const int64_t returns = blocks ? end + kUs : begin + 3 * kUs;
    made_->Copy(kind, {begin + kUs, returns, start, end}, {.stream = stream, .bytes = bytes});
    device_[stream] = end;
    made_->Operator("aten::copy_", begin, returns + kUs);
    host_ = returns + 2 * kUs;
    return *this;
  }
  // A sum over the ranks of what the compute stream has come to, from the hook of a gradient.
  Program& AllReduce(int64_t bytes, int64_t ns, int64_t waits_ns = 0) {
    device_[kExchange] = std::max(device_[kExchange], device_[kCompute]);
    Under("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", [&] {
      Kernel({.op_class = GpuOpClass::kCommunication, .name = "ncclKernel_AllReduce", .ns = ns + waits_ns}, kExchange);
    });
    made_->Collective("all_reduce", device_[kExchange] - ns - waits_ns, device_[kExchange], bytes, 0, kExchange,
                      ranks_);
    return *this;
  }
  // Says that the last operation of the exchange's stream was a collective.
  Program& MarkAsCollective(std::string_view kind, int64_t bytes, int64_t us = 100) {
    made_->Collective(kind, device_[kExchange] - us * kUs, device_[kExchange], bytes, 0, kExchange, ranks_);
    return *this;
  }
  // Makes later work on the compute stream wait for the exchange.
  Program& Join() {
    device_[kCompute] = std::max(device_[kCompute], device_[kExchange]);
    return *this;
  }
  // The host touches pages of managed memory for so long, of which one moves every 100 µs.
  Program& ReadPages(int64_t us) {
    GpuOpDraft page{.kind = GpuOpKind::kMemcpy, .copy_kind = CopyKind::kDtoHManaged, .stream = 0};
    for (int64_t at = 100; at < us; at += 100)
      made_->Unlaunched("Memcpy DtoH", host_ + at * kUs, host_ + (at + 5) * kUs, page);
    host_ += us * kUs;
    return *this;
  }
  Program& Host(int64_t us, std::string_view op = "aten::host") {
    made_->Operator(op, host_, host_ + us * kUs);
    host_ += us * kUs;
    return *this;
  }
  Program& Load(int64_t us, std::string_view iterator = "_SingleProcessDataLoaderIter") {
    made_->Loader(host_, host_ + us * kUs, iterator);
    host_ += us * kUs;
    return *this;
  }
  Program& Under(std::string_view name, const std::function<void()>& inside, HandMade::Inputs inputs = {}) {
    const int64_t begin = host_;
    inside();
    made_->OperatorOn(name, begin, host_, inputs);
    return *this;
  }
  Program& Backward(const std::function<void()>& inside) {
    return Under("autograd::engine::evaluate_function: AddmmBackward0", inside);
  }
  Program& Optimizer(const std::function<void()>& inside) {
    const int64_t begin = host_;
    inside();
    made_->Annotation("Optimizer.step#Adam.step", begin, host_);
    return *this;
  }
  // The host waits until the device is done.
  Program& Synchronize() {
    int64_t done = host_;
    for (const auto& [stream, end] : device_) done = std::max(done, end);
    made_->Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, host_, done + kUs);
    host_ = done + kUs;
    return *this;
  }
  Program& Step(const std::function<void()>& inside, bool synchronize = true) {
    const int64_t begin = host_;
    inside();
    if (synchronize) Synchronize();
    made_->Step(steps_++, begin, host_);
    return *this;
  }
  Program& Steps(int count, const std::function<void()>& inside, bool synchronize = true) {
    for (int i = 0; i < count; ++i) Step(inside, synchronize);
    return *this;
  }
  std::shared_ptr<const Trace> Finish() { return made_->Finish(); }

 private:
  int64_t StartOn(int64_t stream) const {
    const auto before = device_.find(stream);
    const int64_t launched = host_ + 5 * kUs;
    return before == device_.end() ? launched : std::max(launched, before->second + kUs);
  }

  std::unique_ptr<HandMade> made_ = std::make_unique<HandMade>();
  std::map<int64_t, int64_t> device_{};  // by stream: end of what was launched last
  int64_t host_ = 0, steps_ = 0;
  int32_t ranks_ = 2;
};

// The step time in ns, before and with each estimate.
struct Asked {
  WhatIfEffect effect{};
  int64_t before_ns = 0, ns[3] = {};
  bool never_negative = true;  // no edge is, but for those that hold nobody up
  double SavedUs(Estimate estimate = Estimate::kExpected) const {
    return static_cast<double>(before_ns - ns[static_cast<size_t>(estimate)]) / kUs;
  }
  bool Applies() const { return effect.refusal.empty() && effect.no_effect.empty(); }
};

inline bool IsSound(const EdgeTimes& times) {
  return std::all_of(times.ns().begin(), times.ns().end(), [](int64_t ns) { return ns >= 0 || ns == kNever; });
}

// Asks of one trace of a run; `times`: so often one after the other.
inline Asked AskOf(Analysed& run, std::string_view text, size_t at = 0, int times = 1) {
  Asked asked;
  const auto items = ParseItems(text);
  if (!items) {
    ADD_FAILURE() << items.error().message;
    return asked;
  }
  const RunTrace& of = *run.tables().run().primary()[at];
  const Graph graph = BuildGraph(*of.trace);
  const StepSpan span(*of.trace, graph);
  asked.before_ns = span.StepNs(Replay(graph)).value_or(0);
  const FixModel& model = FindFix((*items)[0].name)->model;
  for (const Estimate estimate : {Estimate::kPessimistic, Estimate::kExpected, Estimate::kOptimistic}) {
    EdgeTimes edges(graph);
    for (int i = 0; i < times; ++i) {
      auto effect = model.apply({of, run.tables()}, (*items)[0], estimate, edges);
      if (!effect) ADD_FAILURE() << effect.error().message;
      if (effect && i == 0 && estimate == Estimate::kExpected) asked.effect = std::move(*effect);
    }
    asked.never_negative = asked.never_negative && IsSound(edges);
    asked.ns[static_cast<size_t>(estimate)] = span.StepNs(Replay(graph, edges.ns())).value_or(0);
  }
  return asked;
}

inline Asked Ask(Program& program, std::string_view text) {
  Analysed run(std::vector{program.Finish()});
  return AskOf(run, text);
}

}  // namespace gapless::internal::testing
