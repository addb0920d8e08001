// SPDX-License-Identifier: Apache-2.0
// The device's memory is nearly full.
//
// That costs no time by itself, so there is no gain: it is what keeps a batch from growing and what ends runs. The rule
// does not fire if no step was recorded: engines that serve models reserve nearly all memory on purpose. Severity goes
// by nearness: 0.4 at 90 % of the memory, 0.7 when it is full, and 0.75 where the allocator had to give memory back and
// ask again in steady steps.
#include <algorithm>

#include "analyses/rows/host_events.h"
#include "analyses/rows/memory.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/host_event_view.h"
#include "diagnose/memory_savings.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::memory_pressure_rule {
namespace {

// The TensorBoard plugin recommends to save memory when the peak is above 90 % of the device's.
constexpr double kMemoryPressureShare = 0.90;

constexpr std::string_view kNeeds[] = {"memory", "memory_savings", "host_events", "ledger"};
constexpr std::string_view kAsked[] = {"device_alloc"}, kFreed[] = {"device_free"};

std::vector<Evidence> EvidenceOf(const MemoryRows& memory, size_t row, int64_t retries) {
  const int64_t reserved = memory.Int(row, "peak_reserved_bytes");
  std::vector<Evidence> all{
      {StrCat("the allocator holds ", FormatBytes(reserved), " of ", FormatBytes(memory.Int(row, "device_bytes")),
              ", tensors use ", FormatBytes(memory.Int(row, "peak_allocated_bytes")), " at the peak"),
       static_cast<double>(reserved), "bytes", "memory_event", IdsOf(memory, {row}, "memory_event_id"), ""}};
  if (!memory.IsNull(row, "unused_at_peak_bytes"))
    all.push_back({.text = StrCat(FormatBytes(memory.Int(row, "unused_at_peak_bytes")),
                                  " are held and not in use at that moment: cached or fragmented"),
                   .value = static_cast<double>(memory.Int(row, "unused_at_peak_bytes")),
                   .unit = "bytes",
                   .table = "memory"});
  if (retries > 0)
    all.push_back({.text = StrCat("in steady steps the driver allocated memory and freed some, ", FormatCount(retries),
                                  " times each: the allocator ran out of memory and tried again"),
                   .value = static_cast<double>(retries),
                   .table = "host_events"});
  return all;
}

bool HasSeveralRanks(const Run& run) {
  return std::ranges::any_of(run.primary(), [](const RunTrace* of) { return of->trace->info.world_size > 1; });
}

// The figure of the fullest device, or of the one where it is known, as in a snapshot beside the recording.
std::string Remark(const MemoryRows& memory, size_t row, const MemorySavingsRows& savings, std::string_view change) {
  const auto own = FindSaving(savings, memory.Int(row, "trace"), memory.Int(row, "device"), change);
  return SavingRemark(savings, own ? own : LargestSaving(savings, change));
}

std::vector<Recommendation> Recommend(const MemoryRows& memory, size_t row, const MemorySavingsRows& savings,
                                      const Run& run) {
  constexpr double kFragmented = 0.1;  // fraction of the reserved memory from which fragmentation is reported
  std::vector<Recommendation> all;
  if (static_cast<double>(memory.Int(row, "unused_at_peak_bytes")) >
      kFragmented * static_cast<double>(memory.Int(row, "peak_reserved_bytes")))
    all.push_back({StrCat("let the allocator extend its blocks instead of asking for new ones: less fragmentation",
                          Remark(memory, row, savings, fixes::kAllocator.name)),
                   "", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python script.py", "minutes"});
  all.push_back({StrCat("keep fewer activations: recompute blocks in the backward pass",
                        Remark(memory, row, savings, fixes::kCheckpoint.name)),
                 fixes::kCheckpoint.Item(), "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
                 "hours"});
  all.push_back({StrCat("where tensors are float32: halve activations with mixed precision",
                        Remark(memory, row, savings, fixes::kAmp.name)),
                 fixes::kAmp.Item(), "with torch.autocast(\"cuda\", torch.bfloat16): loss = model(batch)", "minutes"});
  if (HasSeveralRanks(run))
    all.push_back(
        {"shard parameters, gradients and optimiser state over the GPUs (FSDP); where a single layer does not "
         "fit, split it (tensor parallelism) or the stack of layers (pipeline parallelism)",
         "", "for block in model.blocks: fully_shard(block)\nfully_shard(model)", "days"});
  else
    all.push_back({StrCat("keep activations in pinned memory of the host until the backward pass needs them",
                          Remark(memory, row, savings, fixes::kOffload.name)),
                   "", "with torch.autograd.graph.save_on_cpu(pin_memory=True): loss = model(batch)", "minutes"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto memory = tables.Get<MemoryRows>();
  std::vector<size_t> rows;
  for (size_t row = 0; row < memory.rows(); ++row)
    if (!memory.IsNull(row, "allocations_per_step") && !memory.IsNull(row, "peak_share") &&
        memory.Real(row, "peak_share") > kMemoryPressureShare)
      rows.push_back(row);
  if (rows.empty()) return std::vector<Bottleneck>{};
  const size_t row = *std::max_element(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    return memory.Real(a, "peak_share") < memory.Real(b, "peak_share");
  });
  const LedgerView& ledger = ReadLedger(tables);
  const auto events = tables.Get<HostEventsRows>();
  const int64_t retries =
      std::min(SumHostEvents(events, ledger, kAsked).later_calls, SumHostEvents(events, ledger, kFreed).later_calls);
  const double share = memory.Real(row, "peak_share");
  const double nearness = std::clamp((share - kMemoryPressureShare) / (1 - kMemoryPressureShare), 0.0, 1.0);
  const std::string device =
      memory.IsNull(row, "rank") ? StrCat("GPU ", memory.Int(row, "device")) : StrCat("rank ", memory.Int(row, "rank"));
  Bottleneck found;
  found.severity = retries > 0 ? 0.75 : 0.4 + 0.3 * nearness;
  found.title = StrCat("the GPU's memory is ", FormatPercent(share), " full");
  found.description = StrCat(
      "At the peak the allocator of ", device, " holds ", FormatPercent(share), " of the GPU's memory",
      rows.size() > 1
          ? StrCat(", and ", FormatCounted(static_cast<int64_t>(rows.size()) - 1, "more GPU is", "more GPUs are"),
                   " above ", FormatPercent(kMemoryPressureShare))
          : "",
      ". A larger batch does not fit, and a longer input may end the run.");
  found.evidence = EvidenceOf(memory, row, retries);
  found.recommendations = Recommend(memory, row, tables.Get<MemorySavingsRows>(), tables.run());
  return std::vector{std::move(found)};
}

}  // namespace

RULE(memory_pressure) = {
    .id = "memory_pressure",
    .type = BottleneckType::kMemoryAllocation,
    .title = "The GPU's memory is nearly full",
    .why =
        "Peak of the memory that the framework's allocator holds, over the memory of the GPU, both as recorded. "
        "Reported above 90 %, the line of the TensorBoard profiler plugin. Claims no time: where the allocator had to "
        "retry, the rule allocation counts what that cost.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::memory_pressure_rule
