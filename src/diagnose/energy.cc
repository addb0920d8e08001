// SPDX-License-Identifier: Apache-2.0
// Implements the account from the ledger of the summary and the table gpu_power.
#include "diagnose/energy.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyses/rows/gpu_power.h"
#include "analyses/rows/host_power.h"

namespace gapless::internal {
namespace {

constexpr double kNsPerHour = 3600e9, kHoursPerDay = 24, kJoulesPerKwh = 3.6e6;
constexpr double kWorks = 0.05;  // utilisation above which a GPU belongs to the job

// Means over the GPUs that did work, of those that have the value.
struct SampledPower {
  std::optional<double> counter{}, sampled{}, least{};
};

bool DidWork(const GpuPowerRows& gpus, size_t row) {
  return !gpus.IsNull(row, "utilization_share") && gpus.Real(row, "utilization_share") > kWorks;
}

// All GPUs count where none is known to have worked.
std::optional<double> MeanOfGpus(const GpuPowerRows& gpus, GpuPowerRows::RealColumn column) {
  bool is_known = false;
  for (size_t row = 0; row < gpus.rows(); ++row) is_known = is_known || DidWork(gpus, row);
  double sum = 0;
  int64_t count = 0;
  for (size_t row = 0; row < gpus.rows(); ++row) {
    if ((is_known && !DidWork(gpus, row)) || gpus.IsNull(row, column)) continue;
    sum += gpus.Real(row, column), ++count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

SampledPower PowerOf(Tables& tables) {
  const auto gpus = tables.Get<GpuPowerRows>();
  return {.counter = MeanOfGpus(gpus, "counter_watts"),
          .sampled = MeanOfGpus(gpus, "sampled_watts"),
          .least = MeanOfGpus(gpus, "least_watts")};
}

// Finds the power and says where it comes from. The board's limit is what CostOf() has where nothing else is known.
Result<void> TakePower(Tables& tables, const RunSummary& summary, const CostRates& rates, EnergyAccount& account) {
  const SampledPower power = PowerOf(tables);
  CostRates asked = rates;
  if (!asked.any()) asked.carbon_g_per_kwh = 1;  // so that there is a cost at all
  const auto cost = CostOf(tables.run(), summary, asked);
  if (!cost) return Fail(ErrorCode::kInput, "no GPU did any work in the recording: there is no energy to account for");
  account.gpus = cost->gpus;
  if (rates.watts_per_gpu)
    account.watts = *rates.watts_per_gpu, account.source = PowerSource::kGiven;
  else if (power.counter)
    account.watts = *power.counter, account.source = PowerSource::kCounter;
  else if (power.sampled)
    account.watts = *power.sampled, account.source = PowerSource::kSampled;
  else if (cost->watts_per_gpu)
    account.watts = *cost->watts_per_gpu, account.source = PowerSource::kLimit;
  else
    return Fail(ErrorCode::kInput, "the power of the GPUs is not known", "",
                "record it with gapless profile, or say it: --watts 300");
  if (power.least && *power.least < account.watts) account.waiting_watts = power.least;
  return {};
}

Amount AmountOf(double kwh, std::optional<double> gpu_hours, const CostRates& rates) {
  Amount amount{.kwh = kwh};
  if (rates.price_per_gpu_hour && gpu_hours) amount.money = *rates.price_per_gpu_hour * *gpu_hours;
  if (rates.carbon_g_per_kwh) amount.carbon_kg = kwh * *rates.carbon_g_per_kwh / 1000;
  return amount;
}

// The parts of a step: those in which the GPU waits draw the least, the others share what is left by their time.
void TakeParts(const RunSummary& summary, EnergyAccount& account) {
  if (!summary.mean_step_ns || *summary.mean_step_ns <= 0 || summary.total.wall_ns <= 0) return;
  const DeviceBreakdown& total = summary.total;
  const auto gpus = static_cast<double>(account.gpus);
  account.step_ns = summary.mean_step_ns;
  account.joules_per_step = account.watts * gpus * *summary.mean_step_ns / 1e9;
  const auto wall = static_cast<double>(total.wall_ns);
  const double idle = static_cast<double>(total.idle_ns) / wall;
  const double waiting = account.waiting_watts.value_or(account.watts);
  const double working = idle < 1 ? (account.watts - waiting * idle) / (1 - idle) : account.watts;
  const auto add = [&](std::string_view name, int64_t ns, double watts) {
    if (ns <= 0) return;
    const double step_ns = static_cast<double>(ns) / wall * *summary.mean_step_ns;
    account.parts.push_back({.name = name, .step_ns = step_ns, .watts = watts, .joules = watts * gpus * step_ns / 1e9});
  };
  add("compute", total.compute_ns, working);
  add("exposed_comm", total.exposed_comm_ns, working);
  add("exposed_copy", total.exposed_copy_ns, working);
  const double idle_watts = idle < 1 ? waiting : account.watts;
  add("idle_data", total.idle_data_ns, idle_watts);
  add("idle_launch", total.idle_launch_ns, idle_watts);
  add("idle_sync", total.idle_sync_ns, idle_watts);
  add("idle_host", total.idle_host_ns, idle_watts);
  add("idle_unknown", total.idle_unknown_ns, idle_watts);
}

// The GPU has nothing to do in the time of such a finding.
bool IsWaiting(BottleneckType type) {
  switch (type) {
    case BottleneckType::kDataLoading:
    case BottleneckType::kCpuGpuSync:
    case BottleneckType::kLaunchBound:
    case BottleneckType::kHostBound:
    case BottleneckType::kRecompilation:
    case BottleneckType::kIo: return true;
    default: return false;
  }
}

double WorkingWatts(const EnergyAccount& account) {
  for (const EnergyPart& part : account.parts)
    if (!part.name.starts_with("idle")) return part.watts;
  return account.watts;
}

void TakeFindings(const std::vector<Bottleneck>& bottlenecks, const CostRates& rates, EnergyAccount& account) {
  const double hours = static_cast<double>(account.gpus) * kHoursPerDay;
  for (const Bottleneck& found : bottlenecks) {
    if (!found.share_of_step || *found.share_of_step <= 0) continue;
    EnergyOfFinding finding{.id = found.id, .title = found.title, .share_of_step = *found.share_of_step};
    finding.is_waiting = IsWaiting(found.type);
    const double watts = finding.is_waiting ? account.waiting_watts.value_or(account.watts) : WorkingWatts(account);
    const double share_hours = hours * finding.share_of_step;
    finding.day = AmountOf(watts * share_hours / 1000, share_hours, rates);
    if (found.gain && found.gain->expected > 1) {
      const double saved_hours = hours * found.step_left * (1 - 1 / found.gain->expected);
      finding.saved = AmountOf(watts * saved_hours / 1000, saved_hours, rates);
    }
    account.findings.push_back(std::move(finding));
  }
}

// A host of which several recordings tell counts once.
void TakeHosts(Tables& tables, const CostRates& rates, EnergyAccount& account) {
  const auto rows = tables.Get<HostPowerRows>();
  HostEnergyAccount host;
  std::set<std::string_view> seen;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const std::string_view name = rows.Text(row, "host");
    if (rows.IsNull(row, "processor_watts") || (!name.empty() && !seen.insert(name).second)) continue;
    ++host.hosts, host.processor_watts += rows.Real(row, "processor_watts");
    if (!rows.IsNull(row, "memory_watts"))
      host.memory_watts = host.memory_watts.value_or(0) + rows.Real(row, "memory_watts");
  }
  if (host.hosts == 0) return;
  if (account.step_ns) host.joules_per_step = host.processor_watts * *account.step_ns / 1e9;
  host.day = AmountOf(host.processor_watts * kHoursPerDay / 1000, std::nullopt, rates);
  account.host = host;
}

}  // namespace

std::string_view NameOf(PowerSource source) {
  switch (source) {
    case PowerSource::kGiven: return "given";
    case PowerSource::kCounter: return "counter";
    case PowerSource::kSampled: return "sampled";
    case PowerSource::kLimit: break;
  }
  return "limit";
}

Result<EnergyAccount> EnergyOf(Tables& tables, const RunSummary& summary, const std::vector<Bottleneck>& bottlenecks,
                               const CostRates& rates) {
  EnergyAccount account;
  GAPLESS_TRY(TakePower(tables, summary, rates, account));
  TakeParts(summary, account);
  const auto gpus = static_cast<double>(account.gpus);
  account.day = AmountOf(account.watts * gpus * kHoursPerDay / 1000, gpus * kHoursPerDay, rates);
  if (rates.steps_per_epoch && account.step_ns) {
    const auto steps = static_cast<double>(*rates.steps_per_epoch);
    account.epoch =
        AmountOf(*account.joules_per_step * steps / kJoulesPerKwh, gpus * *account.step_ns * steps / kNsPerHour, rates);
  }
  TakeFindings(bottlenecks, rates, account);
  TakeHosts(tables, rates, account);
  return account;
}

}  // namespace gapless::internal
