// SPDX-License-Identifier: Apache-2.0
// Makes findings from plain figures: NCCL time, times per rank, and scaling efficiency. On tables it runs the rules
// about communication.
#include "diagnose/multi_gpu_analyzer.h"

#include <algorithm>

#include "base/strings.h"
#include "diagnose/bottleneck_analyzer.h"
#include "diagnose/estimate.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kExchangeRules[] = {"data_parallel", "exposed_communication", "slow_backend",
                                               "small_collectives", "straggler"};

// Estimates the gain if a tenth, half or all of `share` of the step goes, as in the rules about communication.
Bottleneck Make(std::string_view id, double share, std::string title, std::string description, double value) {
  Bottleneck found;
  found.id = id;
  found.type = BottleneckType::kMultiGpuComm;
  found.severity = SeverityOfShare(share);
  found.share_of_step = share;
  found.title = std::move(title);
  found.description = std::move(description);
  found.evidence.push_back({.text = found.description, .value = value});
  constexpr int64_t kWhole = 1'000'000;
  const double stake = share * kWhole;
  found.gain = EstimateGain(
      {.wall_ns = kWhole, .low_ns = stake * 0.1, .expected_ns = stake * 0.5, .high_ns = stake, .confidence = 0.4});
  return found;
}

std::optional<Bottleneck> Communication(const NcclMetrics& metrics) {
  if (metrics.total_step_ns <= 0) return std::nullopt;
  const double share = static_cast<double>(metrics.nccl_ns) / static_cast<double>(metrics.total_step_ns);
  if (share <= MultiGPUAnalyzer::kNcclShare) return std::nullopt;
  Bottleneck found = Make(
      "communication", share, StrCat("NCCL takes ", FormatPercent(share), " of the step"),
      StrCat("NCCL kernels run for ", FormatDuration(metrics.nccl_ns), " of a step of ",
             FormatDuration(metrics.total_step_ns), "; these figures do not say how much of it computation hides."),
      share);
  found.recommendations = {{"let gradients leave earlier, in larger buckets", fixes::kDdpBucket.Item("50"),
                            "DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True)", "minutes"},
                           {"communicate less often: accumulate gradients over several batches",
                            fixes::kNosync.Item("4"), "with model.no_sync(): loss.backward()", "minutes"}};
  return found;
}

std::optional<Bottleneck> Imbalance(const NcclMetrics& metrics) {
  if (metrics.rank_step_ns.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(metrics.rank_step_ns.begin(), metrics.rank_step_ns.end());
  if (*least <= 0) return std::nullopt;
  const double ratio = static_cast<double>(*most) / static_cast<double>(*least);
  if (ratio <= kImbalance) return std::nullopt;
  double waiting = 0;  // share of the ranks' time that is waiting, if all took as long as the slowest
  for (const int64_t each : metrics.rank_step_ns) waiting += static_cast<double>(*most - each);
  const double share = waiting / (static_cast<double>(*most) * static_cast<double>(metrics.rank_step_ns.size()));
  const auto rank = most - metrics.rank_step_ns.begin();
  Bottleneck found = Make("straggler", share, StrCat("rank ", rank, " is slower than the others"),
                          StrCat("Rank ", rank, " takes ", FormatDuration(*most), " a step, ", FormatNumber(ratio, 2),
                                 " times the fastest rank; the others wait for it."),
                          ratio);
  found.part_of = "communication";
  found.recommendations = {{StrCat("find out what delays rank ", rank, ": its data, its host, its clocks"),
                            fixes::kStraggler.Item(), "", "hours"}};
  return found;
}

std::optional<Bottleneck> ScalingLoss(const NcclMetrics& metrics, int num_gpus) {
  const std::optional<double> efficiency = MultiGPUAnalyzer::ScalingEfficiency(metrics, num_gpus);
  if (!efficiency || *efficiency >= MultiGPUAnalyzer::kScalingEfficiency) return std::nullopt;
  Bottleneck found = Make("scaling", 1 - *efficiency, StrCat(num_gpus, " GPUs scale with ", FormatPercent(*efficiency)),
                          StrCat(num_gpus, " GPUs together reach ", FormatPercent(*efficiency), " of ", num_gpus,
                                 " times the throughput of one."),
                          *efficiency);
  found.part_of = "communication";
  found.recommendations = {{"record all ranks and see whether they communicate, wait or compute longer than one alone",
                            "", "gapless profile -- torchrun --nproc-per-node=gpu train.py", "minutes"}};
  return found;
}

}  // namespace

std::vector<Bottleneck> MultiGPUAnalyzer::Analyze(Tables& tables, int num_gpus) {
  return num_gpus < 2 ? std::vector<Bottleneck>{} : CheckRules(tables, kExchangeRules);
}

std::vector<Bottleneck> MultiGPUAnalyzer::Analyze(const NcclMetrics& metrics, int num_gpus) {
  std::vector<Bottleneck> all;
  if (num_gpus < 2) return all;
  for (std::optional<Bottleneck>& bottleneck :
       std::vector{Communication(metrics), Imbalance(metrics), ScalingLoss(metrics, num_gpus)})
    if (bottleneck) all.push_back(std::move(*bottleneck));
  std::stable_sort(all.begin(), all.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.severity > b.severity; });
  return all;
}

std::optional<double> MultiGPUAnalyzer::ScalingEfficiency(const NcclMetrics& metrics, int num_gpus) {
  if (!metrics.single_gpu_throughput || !metrics.total_throughput || num_gpus < 1) return std::nullopt;
  if (!(*metrics.single_gpu_throughput > 0) || !(*metrics.total_throughput > 0)) return std::nullopt;
  return *metrics.total_throughput / (num_gpus * *metrics.single_gpu_throughput);
}

}  // namespace gapless::internal
