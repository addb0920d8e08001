// SPDX-License-Identifier: Apache-2.0
// Too little work per step for this device, and memory left to give it more.
//
// Three things must come together: the device waits for launches or its kernels do not fill it; much of its memory was
// never taken; and the batch size is seen, as the first dimension of the first convolution, embedding or linear layer.
// A batch f times larger spreads the same waste over f times the samples, so 1 − 1/f of it goes. Activations take at
// most all of the memory in use, so f = 0.9 / share in use always fits; of that we count doubling as expected, half of
// what doubling brings as the least, and eight times at most.
#include <algorithm>
#include <cmath>
#include <optional>

#include "analyses/shapes.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "diagnose/thresholds.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "sm_use", "memory", "operator_shapes"};

struct Waste {
  int64_t launch_ns = 0, unfilled_ns = 0;
  double filled = 1;
};

Waste WasteOf(const LedgerView& ledger, const Table& use) {
  Waste waste;
  if (ledger.Share(ledger.total.idle_launch_ns) >= kLaunchBoundShare) waste.launch_ns = ledger.total.idle_launch_ns;
  const int64_t unfilled = SumOf(use, "long_unfilled_ns"), kernels = SumOf(use, "long_kernel_ns");
  if (kernels > 0) waste.filled = 1 - static_cast<double>(unfilled) / static_cast<double>(kernels);
  if (waste.filled < kWellUsedShare && ledger.Share(unfilled) >= kUnderfilledTime) waste.unfilled_ns = unfilled;
  return waste;
}

// The fullest device; absent: not recorded for all of them that worked.
std::optional<size_t> FullestDevice(const Table& memory) {
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

// First dimension of what the first layer of the model reads: images, token numbers, features. Size 0: it does not
// tell.
std::optional<Batch> FindBatch(const Table& shapes) {
  struct Layer {
    std::string_view name;
    size_t input;  // which one has the batch in front
  };
  constexpr Layer kLayers[] = {
      {"aten::conv1d", 0}, {"aten::conv2d", 0}, {"aten::conv3d", 0}, {"aten::embedding", 1}, {"aten::linear", 0}};
  std::optional<Batch> first;
  for (size_t row = 0; row < shapes.rows(); ++row) {
    const auto layer = std::find_if(std::begin(kLayers), std::end(kLayers),
                                    [&](const Layer& one) { return one.name == shapes.Text(row, "name"); });
    if (layer == std::end(kLayers) || shapes.IsNull(row, "slice_id") || shapes.IsNull(row, "shapes")) continue;
    if (first && shapes.Int(row, "slice_id") >= shapes.Int(first->row, "slice_id")) continue;
    const std::vector<Input> inputs = ReadInputs(shapes.Text(row, "shapes"), "", "");
    if (inputs.size() <= layer->input || inputs[layer->input].shape.empty()) continue;
    const Shape& shape = inputs[layer->input].shape;
    first = Batch{shape.size() < 2 ? 0 : shape[0], row};  // a list of tokens does not tell how many sequences they are
  }
  return first;
}

std::vector<Evidence> EvidenceOf(const Waste& waste, const Batch& batch, const Table& memory, size_t fullest,
                                 const Table& shapes, const LedgerView& ledger) {
  std::vector<Evidence> all;
  all.push_back({StrCat("batch size ", batch.size, ", from the input of ", shapes.Text(batch.row, "name"), " ",
                        Ellipsize(shapes.Text(batch.row, "shapes"), 48)),
                 static_cast<double>(batch.size), "samples", "slice", IdsOf(shapes, {batch.row}, "slice_id"), ""});
  all.push_back({StrCat("at most ", FormatPercent(memory.Real(fullest, "peak_share")),
                        " of the memory was taken: ", FormatBytes(memory.Int(fullest, "peak_reserved_bytes")), " of ",
                        FormatBytes(memory.Int(fullest, "device_bytes"))),
                 memory.Real(fullest, "peak_share"),
                 "share",
                 "memory",
                 {},
                 ""});
  if (waste.launch_ns > 0)
    all.push_back({StrCat("the GPU waits ", ledger.CostText(waste.launch_ns), " for launches"),
                   static_cast<double>(waste.launch_ns),
                   "ns",
                   "ledger",
                   {},
                   ""});
  if (waste.unfilled_ns > 0)
    all.push_back({StrCat("kernels of 10 µs and longer fill ", FormatPercent(waste.filled), " of the multiprocessors"),
                   waste.filled,
                   "share",
                   "sm_use",
                   {},
                   ""});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView ledger = ReadLedger(tables);
  const Waste waste = WasteOf(ledger, tables.Get("sm_use"));
  const int64_t stake = waste.launch_ns + waste.unfilled_ns;
  if (stake == 0) return std::vector<Bottleneck>{};
  const Table &memory = tables.Get("memory"), &shapes = tables.Get("operator_shapes");
  const std::optional<size_t> fullest = FullestDevice(memory);
  const std::optional<Batch> batch = FindBatch(shapes);
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
  found.description =
      StrCat("The device waits for launches or runs kernels that do not fill it for ", FormatPercent(share),
             " of the time, and ", FormatPercent(1 - memory.Real(*fullest, "peak_share")),
             " of its memory is free for larger batches.");
  found.evidence = EvidenceOf(waste, *batch, memory, *fullest, shapes, ledger);
  found.recommendations.push_back(
      {StrCat("make the batch ", times, " times larger: ", batch->size * times,
              " samples fit even if all memory in use grows with it",
              workload == Workload::kTraining ? "; scale the learning rate with it" : ""),
       StrCat("batch=", batch->size * times),
       workload == Workload::kTraining ? StrCat("DataLoader(..., batch_size=", batch->size * times, ")") : "",
       "minutes"});
  const auto time = static_cast<double>(stake);
  found.gain = EstimateGain({.fix = found.recommendations[0].fix,
                             .wall_ns = ledger.total.wall_ns,
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
        "Idle time while the host launches (from 10 % of the time), and multiprocessors that kernels of 10 µs and "
        "longer "
        "leave without blocks (below 60 % filled, from 5 % of the time), when less than half of the device's memory "
        "was "
        "ever taken and the batch size is seen as the first dimension of the first convolution, embedding or linear "
        "layer. Silent when memory or shapes were not recorded.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal
