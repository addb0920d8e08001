// SPDX-License-Identifier: Apache-2.0
// The collectives of a recording: what of their time is transfer, how fast the link is, and which of them exchange
// gradients.
//
// A collective's kernel also runs while it waits for the last rank. Where other ranks were recorded, the shortest of
// the matching collectives is the transfer (analyses/collective_match.h). Else the link's speed does: least squares
// through the shortest collective of each size,
//
//   transfer = latency + bytes on the bus × ns per byte
//
// with the bytes of nccl-tests' bus bandwidth. A single size does not separate the two; the latency is then taken as
// kUsualLatencyNs, which is of the order of what nccl-tests prints for small messages. Where even the shortest of each
// size waited, the fit finds more than any link takes: what is beyond kMaxLatencyNs is waiting, too.
//
// Gradients are exchanged in sums: all-reduce, or reduce-scatter where each rank keeps a part of them (FSDP, ZeRO).
// They come from the hooks of AccumulateGrad (DistributedDataParallel). Where no sum comes from there, those of the
// thread of the backward pass count, and where none does either, all that are large or of unknown size; all sums where
// a step has kManySums and more, as a program that exchanges each parameter by itself does: losses and statistics are
// few. A recording with operators but without a backward pass exchanges no gradients.
//
// An exchange that was not recorded is not taken for absent: that there is no exchange is said only where nothing in
// the recording speaks for one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "predict/fix.h"

namespace gapless::internal {

inline constexpr size_t kManySums = 16;  // sums of a step
inline constexpr double kUsualLatencyNs = 20'000, kMaxLatencyNs = 100'000;

struct LinkSpeed {
  double latency_ns = kUsualLatencyNs;
  double ns_per_byte = 0;  // transfer time per byte on the bus
  bool is_fitted = false;  // two sizes and more
};

struct LinkSample {
  double bytes = 0, ns = 0;
};
LinkSpeed FitLink(std::span<const LinkSample> samples);

struct Collective {
  uint32_t row = 0, op = 0;  // row of the collective table; row of the gpu_op table
  StepId step{};
  int64_t bytes = kAbsent;
  double bus_bytes = 0;       // 0: not known
  int64_t wire_ns = kAbsent;  // transfer, at most what it took; kAbsent: not known
  bool is_gradient = false;
};

struct Collectives {
  std::vector<Collective> all{};  // those with a kernel, in the order of their starts
  LinkSpeed link{};
  size_t on_host = 0;             // carried by the host (gloo): how long they hold a step up is not in the graph
  size_t unnamed = 0;             // communication kernels of which nothing else is known
  size_t sums = 0;                // number of `all` that may exchange gradients
  int64_t ranks = kAbsent;        // ranks of the job, as far as it says
  bool trains = true;             // false: operators were recorded, and no backward pass among them
  bool is_by_size_alone = false;  // nothing but kind and size speaks for gradients

  std::vector<Collective> Gradients() const;
};

Collectives FindCollectives(const WhatIfInput& input);

// Multiplies the transfer time of collectives beyond their latency by `factor`.
void ScaleTransfers(const Collectives& collectives, double latency_ns, double factor, EdgeTimes& times);

// Why nothing can be said of the exchange of gradients, or why nothing is there to change.
struct ExchangeText {
  std::string refusal{}, no_effect{};
};
ExchangeText CheckGradients(const Collectives& collectives, std::span<const Collective> gradients, bool needs_sizes);

// The condition under which the exchanges are those of gradients; empty: the recording shows it.
std::string AssumptionOfGradients(const Collectives& collectives);

}  // namespace gapless::internal
