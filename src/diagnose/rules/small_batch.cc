// SPDX-License-Identifier: Apache-2.0
// Too little work per step for this device, and memory left to give it more.
//
// Three things must come together: the device waits for launches or its kernels do not fill it; much of its memory was
// never taken; and the batch size is known (analyses/batch_size.h): a sequence length does not count. A batch f times
// larger spreads the same waste over f times the samples, so 1 − 1/f of it goes. Activations take at most all of the
// memory in use, so f = 0.9 / share in use always fits; of that we count doubling as expected, half of what doubling
// brings as the least, and eight times at most.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyses/rows/batch_size.h"
#include "analyses/rows/launch_waits.h"
#include "analyses/rows/launches.h"
#include "analyses/rows/memory.h"
#include "analyses/rows/sm_use.h"
#include "analyses/rows/warm_up.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/launch_stake.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::small_batch_rule {
namespace {

// Ours: with half of the memory free the batch can be doubled; with less the larger batch may not fit.
constexpr double kMuchFreeMemoryShare = 0.50;

constexpr std::string_view kNeeds[] = {"ledger",   "sm_use",       "memory", "batch_size",
                                       "launches", "launch_waits", "warm_up"};

struct Waste {
  int64_t launch_ns = 0, unfilled_ns = 0;
  double filled = 1;
};

// Returns what launch_bound counts, at most: warm-up and captures of graphs take as long with any batch.
int64_t LaunchIdle(Tables& tables, const LedgerView& ledger) {
  const LaunchStake stake =
      CollectLaunchStake(tables.Get<LaunchWaitsRows>(), tables.Get<LaunchesRows>(), tables.Get<WarmUpRows>(), ledger);
  return std::min(ledger.total.idle_launch_ns, stake.ns);
}

Waste WasteOf(Tables& tables, const LedgerView& ledger) {
  Waste waste;
  const auto use = tables.Get<SmUseRows>();
  if (const int64_t idle_ns = LaunchIdle(tables, ledger); ledger.Share(idle_ns) >= kLaunchBoundShare)
    waste.launch_ns = idle_ns;
  const int64_t unfilled = SumOf(use, "long_unfilled_ns"), kernels = SumOf(use, "long_kernel_ns");
  if (kernels > 0) waste.filled = 1 - static_cast<double>(unfilled) / static_cast<double>(kernels);
  if (waste.filled < kWellUsedShare && ledger.Share(unfilled) >= kUnderfilledTime) waste.unfilled_ns = unfilled;
  return waste;
}

// The fullest device; absent: not recorded for all of them that worked.
std::optional<size_t> FullestDevice(const MemoryRows& memory) {
  std::optional<size_t> fullest;
  for (size_t row = 0; row < memory.rows(); ++row)
    if (!memory.IsNull(row, "device") && !memory.IsNull(row, "peak_share") &&
        (!fullest || memory.Real(row, "peak_share") > memory.Real(*fullest, "peak_share")))
      fullest = row;
  return fullest;
}

struct Batch {
  int64_t size = 0;
  size_t row = 0;
};

// The batch of the first trace whose batch is known; all ranks of a job have the same.
std::optional<Batch> FindBatch(const BatchSizeRows& batches) {
  for (size_t row = 0; row < batches.rows(); ++row)
    if (!batches.IsNull(row, "samples")) return Batch{batches.Int(row, "samples"), row};
  return std::nullopt;
}

std::string SourceText(const BatchSizeRows& batches, size_t row) {
  if (batches.IsNull(row, "operator")) return "as the program reported it to the recorder";
  const std::string_view source = batches.Text(row, "source");
  const std::string layer = StrCat(batches.Text(row, "operator"), " ", Ellipsize(batches.Text(row, "shapes"), 48));
  if (source == "attention") return StrCat("from the inputs of attention and of ", layer);
  return StrCat(
      source == "partial_batch" ? "which the last batch does not fill, from the input of " : "from the input of ",
      layer);
}

std::vector<Evidence> EvidenceOf(const Waste& waste, const Batch& batch, const MemoryRows& memory, size_t fullest,
                                 const BatchSizeRows& batches, const LedgerView& ledger) {
  std::vector<Evidence> all;
  all.push_back({.text = StrCat("batch size ", batch.size, ", ", SourceText(batches, batch.row)),
                 .value = static_cast<double>(batch.size),
                 .unit = "samples",
                 .table = "slice",
                 .rows = IdsOf(batches, {batch.row}, "slice_id")});
  all.push_back({.text = StrCat("at most ", FormatPercent(memory.Real(fullest, "peak_share")),
                                " of the memory was taken: ", FormatBytes(memory.Int(fullest, "peak_reserved_bytes")),
                                " of ", FormatBytes(memory.Int(fullest, "device_bytes"))),
                 .value = memory.Real(fullest, "peak_share"),
                 .unit = "share",
                 .table = "memory"});
  if (waste.launch_ns > 0)
    all.push_back({.text = StrCat("the GPU waits ", ledger.CostText(waste.launch_ns), " for launches"),
                   .value = static_cast<double>(waste.launch_ns),
                   .unit = "ns",
                   .table = "ledger"});
  if (waste.unfilled_ns > 0)
    all.push_back(
        {.text = StrCat("kernels of 10 µs and longer fill ", FormatPercent(waste.filled), " of the multiprocessors"),
         .value = waste.filled,
         .unit = "share",
         .table = "sm_use"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const Waste waste = WasteOf(tables, ledger);
  const int64_t stake = waste.launch_ns + waste.unfilled_ns;
  if (stake == 0) return std::vector<Bottleneck>{};
  const auto memory = tables.Get<MemoryRows>();
  const auto batches = tables.Get<BatchSizeRows>();
  const std::optional<size_t> fullest = FullestDevice(memory);
  const std::optional<Batch> batch = FindBatch(batches);
  if (!fullest || !batch || batch->size < 1 || memory.Real(*fullest, "peak_share") >= kMuchFreeMemoryShare)
    return std::vector<Bottleneck>{};
  const double fits = std::min(8.0, 0.9 / memory.Real(*fullest, "peak_share"));
  const auto times = static_cast<int64_t>(std::exp2(std::floor(std::log2(fits))));
  const double share = ledger.Share(stake);
  const Workload workload = WorkloadOf(tables.run());
  Bottleneck found;
  found.share_of_step = share;
  found.title =
      StrCat("batches of ", batch->size, " are too small for this GPU: ", ledger.CostText(stake), " go unused");
  found.description = StrCat(
      "The GPU waits for launches or runs kernels that do not fill it for ", FormatPercent(share), " of the time, and ",
      FormatPercent(1 - memory.Real(*fullest, "peak_share")), " of its memory is free for larger batches.");
  found.evidence = EvidenceOf(waste, *batch, memory, *fullest, batches, ledger);
  found.recommendations.push_back(
      {StrCat("make the batch ", times, " times larger: ", batch->size * times,
              " samples fit even if all memory in use grows with it",
              workload == Workload::kTraining ? "; scale the learning rate with it" : ""),
       fixes::kBatch.Item(batch->size * times),
       workload == Workload::kTraining ? StrCat("DataLoader(..., batch_size=", batch->size * times, ")") : "",
       "minutes"});
  const auto time = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.25 * time,
                             .expected_ns = 0.5 * time,
                             .high_ns = (1 - 1 / static_cast<double>(times)) * time,
                             .confidence = 0.4});
  found.part_of = waste.launch_ns >= waste.unfilled_ns ? "launch_bound" : "underfilled_gpu";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(small_batch) = {
    .id = "small_batch",
    .type = BottleneckType::kSmallBatch,
    .title = "Batches are too small for the GPU",
    .why =
        "Idle time while the host launches, warm-up and captures of graphs left out (from 10 % of the "
        "time), and multiprocessors that kernels of 10 µs and longer leave without blocks (below 60 % "
        "filled, from 5 % of the time), if less than half of the GPU's memory was ever taken and the "
        "batch size is known: the program reported it to the recorder, the model reads images, a last batch is "
        "smaller, attention shows it, or a model without sequences reads features. Not reported when "
        "memory or shapes were not recorded, or when shapes leave open which dimension is the batch.",
    .saves = "¼, ½, 1 - 1/f of it, with f how many times as large a batch memory allows, at most 8",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::small_batch_rule
