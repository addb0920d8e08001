// SPDX-License-Identifier: Apache-2.0
// The chains of a run that are worth a kernel, and the operators in chains that no kernel can be made of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "forge/plan.h"

namespace gapless::internal {

// Plans chains of one trace; those of the same texts once. `around`: Surroundings() of the trace.
class ChainPlanner {
 public:
  ChainPlanner(const Trace& trace, const std::vector<uint8_t>& around)
      : trace_(trace), around_(around), attention_(trace) {}
  // The parts of a chain, valid as long as the planner; none of unfused attention, which has kernels of others.
  const std::vector<PlanPart>& PartsOf(const OpChain& chain);

 private:
  std::vector<PlanPart> Plan(std::span<const ChainLink> links) const;

  const Trace& trace_;
  const std::vector<uint8_t>& around_;
  const AttentionNames attention_;
  std::map<std::vector<uint32_t>, std::vector<PlanPart>> known_{};  // by the texts of the chain
};

// All chains that one kernel serves.
struct KernelCandidate {
  KernelPlan plan{};                  // of the longest of them
  std::string source_line{};          // of its first operator: "model.py:41"; empty: not recorded
  int64_t calls = 0;                  // chains in the analysed time, of all ranks
  int64_t kernels = 0;                // GPU kernels in them
  int64_t device_ns = 0;              // their time on the device
  int64_t bytes = 0;                  // that a kernel for each reads and writes at least
  std::optional<int64_t> bound_ns{};  // their time at the memory's peak; absent: the device is not in the table
  std::optional<double> calls_per_step{};
  std::string after{};  // the convolution right before the longest of them, "aten::cudnn_convolution"; empty: none
};

// Operators of chains that are in no plan.
struct RefusedOperator {
  std::string name{}, why{};
  int64_t calls = 0, device_ns = 0;
};

struct KernelSearch {
  std::vector<KernelCandidate> candidates{};  // by time on the device, the longest first
  std::vector<RefusedOperator> refused{};     // the same
  std::string why_none{};                     // why no chain could be looked for; empty: it could
  int64_t steps = 0;                          // complete steps that were analysed, of all ranks
};

// Goes through the primary recordings of the run.
KernelSearch FindKernels(Tables& tables);

}  // namespace gapless::internal
