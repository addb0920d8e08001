// SPDX-License-Identifier: Apache-2.0
// Another process uses the GPU that the run trains on: the driver lists it, or the GPU works while the recorded program
// leaves it idle. The second needs no list of processes, but a recording beside the samples; and the GPU of the samples
// must be the program's, which the samples show while it works (a program may number its GPUs otherwise).
//
// The gain: two processes on a GPU take turns, so that at most half of the shared time goes to the other one. How much
// it computes is not known: at least nothing, and we expect a quarter. Assumptions.
#include "analyses/rows/gpu_state.h"
#include "analyses/rows/sampled_gaps.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/gpu_state_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::gpu_foreign_process_rule {
namespace {

// Ours: a GPU that others use in more of a run's samples is shared, which one short event does not make it.
constexpr double kForeignShare = 0.05;

// Ours: a second without work of the program shows a utilisation near 0, one with work near 1.
constexpr double kOthersWork = 0.2, kOwnWork = 0.5;
constexpr int64_t kFewestInGaps = 5, kFewestAtWork = 3;

constexpr std::string_view kNeeds[] = {"gpu_state", "sampled_gaps"};

// The finding, with its gain of `share` of `span_ns`, but without evidence.
Bottleneck Shared(double share, int64_t span_ns) {
  Bottleneck found;
  found.share_of_step = share / 4;
  found.recommendations.push_back({"find the process and move it, or use another GPU", "",
                                   "nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv",
                                   "minutes"});
  const double shared_ns = static_cast<double>(span_ns) * share;
  found.gain = EstimateGain(
      {.wall_ns = span_ns, .low_ns = 0, .expected_ns = shared_ns / 4, .high_ns = shared_ns / 2, .confidence = 0.2});
  return found;
}

std::optional<Bottleneck> Listed(Tables& tables) {
  const auto gpus = tables.Get<GpuStateRows>();
  const std::optional<size_t> worst = WorstGpu(gpus, "foreign_share");
  if (!worst || gpus.Real(*worst, "foreign_share") < kForeignShare) return std::nullopt;
  const double share = gpus.Real(*worst, "foreign_share");
  Bottleneck found = Shared(share, gpus.Int(*worst, "span_ns"));
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
  return found;
}

// The time that samples of a GPU span; 0: it has none.
int64_t SpanOf(const GpuStateRows& gpus, int64_t device) {
  for (size_t row = 0; row < gpus.rows(); ++row)
    if (gpus.Int(row, "device") == device) return gpus.Int(row, "span_ns");
  return 0;
}

std::optional<Bottleneck> SeenInGaps(Tables& tables) {
  const auto gaps = tables.Get<SampledGapsRows>();
  std::optional<size_t> worst;
  for (size_t row = 0; row < gaps.rows(); ++row) {
    const bool is_own =
        gaps.Int(row, "busy_samples") >= kFewestAtWork && gaps.Real(row, "busy_utilization_share") >= kOwnWork;
    if (!is_own || gaps.Int(row, "gap_samples") < kFewestInGaps) continue;
    const double utilization = gaps.Real(row, "gap_utilization_share");
    if (utilization >= kOthersWork && (!worst || utilization > gaps.Real(*worst, "gap_utilization_share"))) worst = row;
  }
  if (!worst) return std::nullopt;
  const double share = gaps.Real(*worst, "gap_utilization_share");
  const int64_t device = gaps.Int(*worst, "device"), samples = gaps.Int(*worst, "gap_samples");
  Bottleneck found = Shared(share, SpanOf(tables.Get<GpuStateRows>(), device));
  found.title =
      StrCat("GPU ", device, " works ", FormatPercent(share), " of the time in which this program leaves it idle");
  found.description = StrCat("While the recording shows no operation on GPU ", device,
                             " for a second or longer, samples of the GPU show it at work: somebody else uses it.");
  found.evidence.push_back(
      {.text = StrCat("utilisation of ", FormatPercent(share), " in ", FormatCounted(samples, "sample"),
                      " within gaps of the recording, ", FormatPercent(gaps.Real(*worst, "busy_utilization_share")),
                      " while it works"),
       .value = share,
       .unit = "share",
       .table = "sampled_gaps"});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  auto found = Listed(tables);
  if (!found) found = SeenInGaps(tables);
  return found ? std::vector{std::move(*found)} : std::vector<Bottleneck>{};
}

}  // namespace

RULE(gpu_foreign_process) = {
    .id = "gpu_foreign_process",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Another process uses the same GPU",
    .why =
        "Processes that the driver lists on a GPU and that do not belong to the run, as telemetry samples them while "
        "the steps run, at 5 % of the samples of a GPU or more. Without such a list: a utilisation of 20 % or more in "
        "five samples or more, each at the end of a second in which the recorded program ran nothing on the GPU, where "
        "samples of its own work show that it is the same GPU. The cost is an assumption: processes take turns.",
    .saves = "0, ¼, ½ of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::gpu_foreign_process_rule
