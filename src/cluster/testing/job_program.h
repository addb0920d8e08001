// SPDX-License-Identifier: Apache-2.0
// The program that every rank of a pipeline stage of a simulated job runs in a step: what its host does, one after the
// other.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cluster/testing/job_draws.h"
#include "cluster/testing/job_layout.h"

namespace gapless::internal::testing {

enum class Do : uint8_t {
  kBegin,     // of the step
  kLoader,    // waits for a batch
  kCopy,      // brings the batch to the device
  kKernel,    // launches
  kExchange,  // launches a collective, send or receive on its stream
  kWait,      // the compute stream waits for the exchange in `slot`
  kSync,      // the host waits for the compute stream
  kEnd,
};

enum class Bound : uint8_t { kCompute, kMemory };

// Kernels and exchanges, by place in this table: what a launch is called in the recording.
struct WorkName {
  std::string_view kernel, operation;
  Bound bound = Bound::kCompute;
};
const WorkName& WorkNameOf(uint16_t place);

struct Instruction {
  Do what = Do::kKernel;
  uint16_t name = 0;
  uint8_t stream = 7;
  uint8_t thread = 0;       // 0: the one that takes the steps, 1: of the backward pass
  uint8_t tokens = 0;       // power of the number of tokens with which the work grows
  bool of_experts = false;  // grows with the tokens of the expert instead
  double us = 0;            // of a kernel, on the average GPU
  uint32_t blocks = 0;
  Dimension dimension = Dimension::kDefault;
  Exchange exchange = Exchange::kAllReduce;
  double bytes = 0;
  int slot = -1;
  int peer = 0;  // of a send or receive: +1 the next stage, -1 the one before
  int microbatch = 0;
};

// Properties of a job besides its layout, drawn from its seed.
struct JobPlan {
  double unit_us = 400;      // a matrix product
  double operator_us = 100;  // the host for each operator
  double token_spread = 0.03;
  int layers = 1;  // of a stage
  int buckets = 4;
  double data_share = 0.5;  // exchange of gradients against the backward pass
  bool syncs = true;        // the host waits for the device in each step, else in every second one
  int gathers_ahead = 1;
  bool keeps_gathered = false;
  double cards = 0;       // network cards of a host, for which messages are sized; 0: as many as a data group uses
  double optimizer = 1;   // factor on the optimizer's work
  double last_stage = 1;  // factor on the kernels of a pipeline's last stage
};
JobPlan DrawnPlan(const Draws& draws, const JobLayout& layout);

std::vector<Instruction> StepProgram(const JobLayout& layout, const JobPlan& plan, int stage);
inline constexpr int kMaxSlots = 64;

}  // namespace gapless::internal::testing
