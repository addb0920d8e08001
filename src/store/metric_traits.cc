// SPDX-License-Identifier: Apache-2.0
// Implements the table of endings. The order matters: "_per_second" and "_per_s" come before "_s".
#include "store/metric_traits.h"

namespace gapless::internal {
namespace {

struct Ending {
  std::string_view end;
  MetricTraits traits;
};
constexpr Ending kEndings[] = {
    {"_per_second", {"1/s", true}}, {"_per_s", {"1/s", true}},     {"gpu_utilization", {"%", true}},
    {"_efficiency", {"", true}},    {"_ms", {"ms", false}},        {"_ns", {"ns", false}},
    {"_gb", {"GB", false}},         {"_bytes", {"bytes", false}},  {"_pct", {"%", {}}},
    {"_percent", {"%", {}}},        {"_s", {"s", false}},          {"joules_per_step", {"J", false}},
    {"energy_j", {"J", false}},     {"_per_joule", {"1/J", true}},
};

}  // namespace

MetricTraits TraitsOf(std::string_view metric) {
  for (const Ending& ending : kEndings)
    if (metric.ends_with(ending.end)) return ending.traits;
  if (metric == "step_time") return {"s", false};
  return {};
}

}  // namespace gapless::internal
