// SPDX-License-Identifier: Apache-2.0
// The energy of a training's GPUs: of a step, of the parts of a step, and of each finding by the day.
//
// Energy is power times time. The power of a GPU is, in this order, what the user says, what its energy counter shows
// while the steps ran, the mean of what was sampled then, or the board's limit, which is the most it can be. Which of
// the parts of a step draws how much is not measured: telemetry is slower than a step. So a GPU that waits is taken to
// draw the least that was sampled of it, and what is left is spread evenly over its work. Where no least is known, all
// parts draw the mean. Hosts, cooling and network are not in the numbers of GPUs; processors and memory of hosts, of
// which the counters were recorded, stand beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"
#include "diagnose/cost.h"
#include "gapless/summary.h"

namespace gapless::internal {

enum class PowerSource : uint8_t { kGiven, kCounter, kSampled, kLimit };
std::string_view NameOf(PowerSource source);  // "given", "counter", "sampled", "limit"

// A part of the ledger, of all devices together.
struct EnergyPart {
  std::string_view name{};  // "compute", "exposed_comm", "exposed_copy", "idle_data", …, as the ledger has it
  double step_ns = 0;       // time of it in a step, mean of the devices
  double watts = 0;         // a GPU draws meanwhile
  double joules = 0;        // a step, all GPUs
};

struct EnergyOfFinding {
  std::string id{}, title{};
  double share_of_step = 0;
  bool is_waiting = false;  // the GPU waits meanwhile, and draws less
  Amount day{};             // what this share of a day of the job takes
  Amount saved{};           // of a day by its fix, after the fixes above it; absent members: not known
};

// All hosts of the job together, by the counters of their processors (RAPL). Some processors count their memory among
// their own energy, so the two are not added up.
struct HostEnergyAccount {
  int64_t hosts = 0;
  double processor_watts = 0;
  std::optional<double> memory_watts{};
  std::optional<double> joules_per_step{};  // processors; absent: no complete step
  Amount day{};                             // processors; without money
};

struct EnergyAccount {
  int64_t gpus = 0;
  double watts = 0;  // mean of a GPU
  PowerSource source = PowerSource::kSampled;
  std::optional<double> waiting_watts{};               // of a GPU that waits; absent: not sampled
  std::optional<double> step_ns{}, joules_per_step{};  // all GPUs; absent: no complete step
  std::vector<EnergyPart> parts{};                     // empty without a step; their joules add up to joules_per_step
  Amount day{};                                        // of the job, 24 h
  std::optional<Amount> epoch{};
  std::vector<EnergyOfFinding> findings{};  // in the order of the report
  std::optional<HostEnergyAccount> host{};  // absent: not recorded
};

// An error: no power is known of any GPU, or no GPU did any work.
Result<EnergyAccount> EnergyOf(Tables& tables, const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks,
                               const CostRates& rates);

}  // namespace gapless::internal
