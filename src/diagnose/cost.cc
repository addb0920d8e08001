// SPDX-License-Identifier: Apache-2.0
// Computes money, energy and carbon from GPU time, the user's rates and the boards' power limits.
#include "diagnose/cost.h"

#include <algorithm>
#include <cmath>

#if __has_include("analyses/device_peaks.h")
#include "analyses/device_peaks.h"
#endif

namespace gapless::internal {
namespace {

// Returns the job's ranks as recorded, but at least the number of devices that did work.
int64_t GpusOf(const Run& run, const RunSummary& summary) {
  auto gpus = static_cast<int64_t>(summary.breakdown.size());
  for (const RunTrace* run_trace : run.primary()) gpus = std::max(gpus, run_trace->trace->info.world_size);
  return gpus;
}

// The mean power limit of the devices; absent when one of them is not known.
std::optional<double> BoardWatts(const RunSummary& summary) {
#if __has_include("analyses/device_peaks.h")
  double watts = 0;
  for (const DeviceBreakdown& device : summary.breakdown) {
    const DevicePeaks* peaks = FindDevicePeaks(device.device_name);
    if (peaks == nullptr || std::isnan(peaks->board_power_w)) return std::nullopt;
    watts += peaks->board_power_w;
  }
  return watts / static_cast<double>(summary.breakdown.size());
#else
  (void)summary;
  return std::nullopt;
#endif
}

Amount Of(const RunCost& cost, const CostRates& rates, double gpu_hours) {
  Amount amount;
  if (rates.price_per_gpu_hour) amount.money = *rates.price_per_gpu_hour * gpu_hours;
  if (cost.watts_per_gpu) amount.kwh = *cost.watts_per_gpu * gpu_hours / 1000;
  if (amount.kwh && rates.carbon_g_per_kwh) amount.carbon_kg = *amount.kwh * *rates.carbon_g_per_kwh / 1000;
  return amount;
}

Amount Times(const Amount& amount, double factor) {
  const auto scaled = [factor](const std::optional<double>& value) {
    return value ? std::optional<double>(*value * factor) : std::nullopt;
  };
  return {.money = scaled(amount.money), .kwh = scaled(amount.kwh), .carbon_kg = scaled(amount.carbon_kg)};
}

}  // namespace

std::optional<RunCost> CostOf(const Run& run, const RunSummary& summary, const CostRates& rates) {
  if (!rates.any() || summary.breakdown.empty()) return std::nullopt;
  RunCost cost;
  cost.gpus = rates.gpus.value_or(GpusOf(run, summary));
  cost.hours_per_month = rates.hours_per_month;
  cost.watts_per_gpu = rates.watts_per_gpu ? rates.watts_per_gpu : BoardWatts(summary);
  cost.watts_are_limit = !rates.watts_per_gpu && cost.watts_per_gpu;
  const auto gpus = static_cast<double>(cost.gpus);
  if (summary.mean_step_ns) {
    constexpr double kNsPerHour = 3600e9;
    cost.step = Of(cost, rates, gpus * *summary.mean_step_ns / kNsPerHour);
    if (rates.steps_per_epoch) cost.epoch = Times(*cost.step, static_cast<double>(*rates.steps_per_epoch));
  }
  cost.month = Of(cost, rates, gpus * cost.hours_per_month);
  return cost;
}

Saving SavingPerMonth(const RunCost& cost, const Gain& gain, double left) {
  const auto saved = [&](double speedup) { return Times(cost.month, speedup > 1 ? left * (1 - 1 / speedup) : 0); };
  return {.low = saved(gain.low), .expected = saved(gain.expected), .high = saved(gain.high)};
}

}  // namespace gapless::internal
