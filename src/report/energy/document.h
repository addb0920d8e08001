// SPDX-License-Identifier: Apache-2.0
// The fields of `gapless report --style energy --json`, which a run's page has, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "diagnose/energy.h"
#include "report/described.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<PowerSource> = static_cast<int64_t>(PowerSource::kLimit) + 1;

template <>
struct Described<EnergyPart> {
  static constexpr FieldInfo kFields[] = {
      Field<&EnergyPart::name>("name", "", "part of the ledger"),
      Field<&EnergyPart::step_ns>("step_ns", "ns", "time of it in a step, mean of the devices"),
      Field<&EnergyPart::watts>("watts", "W", "that a GPU is taken to draw meanwhile"),
      Field<&EnergyPart::joules>("joules", "J", "energy of it in a step, all GPUs"),
  };
};

template <>
struct Described<EnergyOfFinding> {
  static constexpr FieldInfo kFields[] = {
      Field<&EnergyOfFinding::id>("id", "", "id of the bottleneck"),
      Field<&EnergyOfFinding::title>("title", "", "the finding in a line"),
      Field<&EnergyOfFinding::share_of_step>("share_of_step", "share", "fraction of a step"),
      Field<&EnergyOfFinding::is_waiting>("is_waiting", "", "the GPUs wait meanwhile"),
      Field<&EnergyOfFinding::day>("day", "", "what that share of a day takes, on all GPUs"),
      Field<&EnergyOfFinding::saved>("saved", "", "of a day by its fix, after the fixes above it; empty: not known"),
  };
};

template <>
struct Described<HostEnergyAccount> {
  static constexpr FieldInfo kFields[] = {
      Field<&HostEnergyAccount::hosts>("hosts", "count", "hosts of which energy counters were recorded"),
      Field<&HostEnergyAccount::processor_watts>("processor_watts", "W", "mean power of their processors together"),
      Field<&HostEnergyAccount::memory_watts>("memory_watts", "W", "of their memory; missing: not counted apart"),
      Field<&HostEnergyAccount::joules_per_step>("joules_per_step", "J", "energy of a step, processors"),
      Field<&HostEnergyAccount::day>("day", "", "24 hours, processors; without money"),
  };
};

namespace documents {

struct EnergyReport {
  int64_t gpus = 0;
  double watts = 0;
  PowerSource watts_source = PowerSource::kSampled;
  std::optional<double> waiting_watts{}, step_ns{}, joules_per_step{}, steps_per_kilojoule{};
  std::vector<EnergyPart> parts{};
  Amount day{};
  std::optional<Amount> epoch{};
  std::vector<EnergyOfFinding> findings{};
  std::vector<std::string> assumptions{};
  std::optional<HostEnergyAccount> host{};
  static constexpr FieldInfo kFields[] = {
      Field<&EnergyReport::gpus>("gpus", "count", "GPUs of the job"),
      Field<&EnergyReport::watts>("watts", "W", "mean power of a GPU"),
      Field<&EnergyReport::watts_source>("watts_source", "", "from where; limit: an upper bound"),
      Field<&EnergyReport::waiting_watts>("waiting_watts", "W", "of a GPU that waits; missing: not sampled"),
      Field<&EnergyReport::step_ns>("step_ns", "ns", "mean step; missing: there is no complete one"),
      Field<&EnergyReport::joules_per_step>("joules_per_step", "J", "energy of a step, all GPUs"),
      Field<&EnergyReport::steps_per_kilojoule>("steps_per_kilojoule", "1/kJ", "steps for a kilojoule"),
      Field<&EnergyReport::parts>("parts", "", "of a step; their joules add up to joules_per_step"),
      Field<&EnergyReport::day>("day", "", "24 hours of the job"),
      Field<&EnergyReport::epoch>("epoch", "", "missing: its steps were not given"),
      Field<&EnergyReport::findings>("findings", "", "in the order of the report"),
      Field<&EnergyReport::assumptions>("assumptions", "", "a sentence each"),
      Field<&EnergyReport::host>("host", "", "processors of the hosts, beside the GPUs; missing: not recorded"),
  };
};

}  // namespace documents

}  // namespace gapless::internal
