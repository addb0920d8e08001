// SPDX-License-Identifier: Apache-2.0
// Another process uses the GPU that the run trains on.
//
// The gain: two processes on a GPU take turns, so that at most half of the shared time goes to the other one. How much
// it computes is not known: at least nothing, and we expect a quarter. Assumptions.
#include "analyses/rows/gpu_state.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/gpu_state_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::gpu_foreign_process_rule {
namespace {

// Ours: a GPU that others use in more of a run's samples is shared, which one short event does not make it.
constexpr double kForeignShare = 0.05;

constexpr std::string_view kNeeds[] = {"gpu_state"};

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto gpus = tables.Get<GpuStateRows>();
  const std::optional<size_t> worst = WorstGpu(gpus, "foreign_share");
  if (!worst || gpus.Real(*worst, "foreign_share") < kForeignShare) return std::vector<Bottleneck>{};
  const double share = gpus.Real(*worst, "foreign_share");
  Bottleneck found;
  found.share_of_step = share / 4;
  found.title = StrCat("another process is on ", WhichGpus(gpus, "foreign_share", kForeignShare), " for ",
                       FormatPercent(share), " of the run");
  found.description =
      StrCat("In ", FormatPercent(share), " of the samples GPU ", gpus.Int(*worst, "device"),
             " also runs a process that does not belong to this run. The two take turns, and share its memory.");
  std::string memory;
  if (!gpus.IsNull(*worst, "foreign_bytes"))
    memory = StrCat("; it holds up to ", FormatBytes(static_cast<int64_t>(gpus.Real(*worst, "foreign_bytes"))));
  found.evidence.push_back({.text = StrCat("another process in ", FormatPercent(share), " of the samples", memory),
                            .value = share,
                            .unit = "share",
                            .table = "gpu_state"});
  found.recommendations.push_back({"find the process and move it, or use another GPU", "",
                                   "nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv",
                                   "minutes"});
  const int64_t span_ns = gpus.Int(*worst, "span_ns");
  const double shared_ns = static_cast<double>(span_ns) * share;
  found.gain = EstimateGain(
      {.wall_ns = span_ns, .low_ns = 0, .expected_ns = shared_ns / 4, .high_ns = shared_ns / 2, .confidence = 0.2});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(gpu_foreign_process) = {
    .id = "gpu_foreign_process",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Another process uses the same GPU",
    .why =
        "Processes that the driver lists on a GPU and that do not belong to the run, as telemetry samples them while "
        "the "
        "steps run. Reported at 5 % of the samples of a GPU or more. The cost is an assumption: processes take turns.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::gpu_foreign_process_rule
