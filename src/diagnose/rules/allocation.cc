// SPDX-License-Identifier: Apache-2.0
// The device waits for memory calls of the driver.
//
// The framework's allocator asks the driver while it warms up and then lives on what it holds. Calls in steady steps
// mean that it had to give memory back or could not fit a request: shapes change, memory is fragmented or full, or the
// script calls empty_cache(). cudaFree also waits for the device. The first complete step is left out: it may be
// warm-up. The gain: all of it goes when the allocator need not ask (high); we expect nine tenths of the idle time, at
// least half.
#include "analyses/rows/host_events.h"
#include "base/strings.h"
#include "diagnose/host_event_view.h"
#include "diagnose/memory_savings.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "fixes/names.h"

namespace gapless::internal::allocation_rule {
namespace {

// Ours: waits for cudaMalloc, cudaFree, pinned allocations in steady steps; well-warmed steps have none at all.
constexpr double kAllocationShare = 0.02;

constexpr std::string_view kNeeds[] = {"ledger", "host_events", "memory_savings"};
constexpr std::string_view kAll[] = {"device_alloc", "device_free", "host_alloc"};
constexpr std::string_view kDevice[] = {"device_alloc"};
constexpr std::string_view kFree[] = {"device_free"};
constexpr std::string_view kPinned[] = {"host_alloc"};
constexpr std::string_view kLoad[] = {"module_load"};
// A program without steps and without a framework's allocator: whatever it asks the driver for beside its work.
constexpr std::string_view kAllOfProgram[] = {"device_alloc", "device_free", "host_alloc", "module_load"};
// Ours: a program that allocates once before its work loses less.
constexpr double kProgramShare = 0.05;

// "1,947 allocations, 1 release": the calls of each kind that were made.
std::string CallsText(const HostEventSum& asked, const HostEventSum& freed, const HostEventSum& pinned) {
  std::vector<std::string> parts;
  if (asked.later_calls > 0) parts.push_back(FormatCounted(asked.later_calls, "allocation"));
  if (freed.later_calls > 0) parts.push_back(FormatCounted(freed.later_calls, "release"));
  if (pinned.later_calls > 0)
    parts.push_back(FormatCounted(pinned.later_calls, "allocation of pinned memory", "allocations of pinned memory"));
  return Join(parts, ", ");
}

std::vector<Recommendation> Recommend(const HostEventSum& asked, const HostEventSum& freed, const HostEventSum& pinned,
                                      const MemorySavingsRows& savings) {
  std::vector<Recommendation> all;
  if (freed.later_calls > 0)
    all.push_back(
        {"keep memory that was allocated: remove torch.cuda.empty_cache() from the loop; without such a call, the "
         "allocator ran out of memory, freed some and tried again",
         "", "", "minutes"});
  if (asked.later_calls > 0) all.push_back({"allocate once, before the loop, and reuse the buffers", "", "", "hours"});
  if (asked.later_calls > 0)
    all.push_back({StrCat("let the allocator extend its blocks instead of asking the driver for new ones",
                          SavingRemark(savings, LargestSaving(savings, fixes::kAllocator.name))),
                   "", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python script.py", "minutes"});
  if (asked.later_calls > 0)
    all.push_back(
        {"run the largest batch first, so that all later ones fit into the memory already held", "", "", "hours"});
  if (pinned.later_calls > 0)
    all.push_back({"let the data loader pin memory and reuse it, instead of calling .pin_memory() in the loop",
                   fixes::kPin.Item(), "DataLoader(..., pin_memory=True)", "minutes"});
  return all;
}

std::vector<Recommendation> RecommendToProgram(const HostEventSum& device, const HostEventSum& freed,
                                               const HostEventSum& pinned, const HostEventSum& loads) {
  std::vector<Recommendation> all;
  if (device.idle_ns + freed.idle_ns > 0)
    all.push_back(
        {"allocate once, before the loop, and reuse the buffers; or take them from CUDA's pool, which neither "
         "asks the driver nor waits for the device",
         "", "cudaMallocAsync(&p, bytes, stream); … cudaFreeAsync(p, stream);", "hours"});
  if (pinned.idle_ns > 0)
    all.push_back(
        {"allocate pinned memory once, before the loop, and reuse it", "", "cudaMallocHost(&p, bytes);", "hours"});
  if (loads.idle_ns > 0)
    all.push_back({"load kernels before the work that is timed, instead of at their first launch", "",
                   "CUDA_MODULE_LOADING=EAGER ./program", "minutes"});
  return all;
}

// A program in C++ marks no steps and has no allocator that keeps memory: each call costs it.
Result<std::vector<Bottleneck>> CheckProgram(Tables& tables, const LedgerView& ledger) {
  const auto events = tables.Get<HostEventsRows>();
  const HostEventSum sum = SumHostEvents(events, ledger, kAllOfProgram);
  const double share = ledger.Share(sum.idle_ns);
  if (share < kProgramShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title =
      StrCat("the GPU waits ", ledger.CostText(sum.idle_ns), " while memory is allocated or kernels are loaded");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time the GPU is idle while the host allocates or frees memory, or loads kernels: ",
             FormatCounted(sum.calls, "call"), ", ", FormatDuration(sum.total_ns), " of the host's time.");
  found.evidence = EventEvidence(events, sum.rows);
  found.recommendations =
      RecommendToProgram(SumHostEvents(events, ledger, kDevice), SumHostEvents(events, ledger, kFree),
                         SumHostEvents(events, ledger, kPinned), SumHostEvents(events, ledger, kLoad));
  found.gain = GainOfIdle(ledger, sum.idle_ns, 0.9, 0.5);
  return std::vector{std::move(found)};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  if (ledger.step_rows == 0 && !UsesPyTorch(tables.run())) return CheckProgram(tables, ledger);
  const auto events = tables.Get<HostEventsRows>();
  HostEventSum sum = SumHostEvents(events, ledger, kAll);
  const double share = ledger.Share(sum.later_idle_ns);
  if (share < kAllocationShare) return std::vector<Bottleneck>{};
  const HostEventSum asked = SumHostEvents(events, ledger, kDevice), freed = SumHostEvents(events, ledger, kFree),
                     pinned = SumHostEvents(events, ledger, kPinned);
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("the GPU waits ", ledger.CostText(sum.later_idle_ns), " while memory is allocated or freed");
  found.description =
      StrCat("For ", FormatPercent(share), " of the time the GPU is idle while the driver allocates or frees memory",
             ledger.step_rows > 0 ? ", in steps after the first recorded one: " : ", again and again: ",
             CallsText(asked, freed, pinned), ". Steady steps need none.");
  const bool steps = ledger.step_rows > 0;
  std::erase_if(sum.rows, [&](size_t row) { return steps && events.Int(row, "later_calls") == 0; });
  found.evidence = EventEvidence(events, sum.rows);
  found.recommendations = Recommend(asked, freed, pinned, tables.Get<MemorySavingsRows>());
  found.gain = GainOfIdle(ledger, sum.later_idle_ns, 0.9, 0.6);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(allocation) = {.id = "allocation",
                    .type = BottleneckType::kMemoryAllocation,
                    .title = "The GPU waits while memory is allocated or freed",
                    .why =
                        "Idle time of the GPU while the host is in cudaMalloc, cudaFree, cudaHostAlloc or their HIP "
                        "and driver relatives, in complete steps after the first recorded one, which may be warm-up. "
                        "Without steps, calls that are made 20 times or more count, except the longest. Reported at 2 "
                        "% of the analysed time or more: a loop whose shapes do not change makes no such call. Of a "
                        "program without steps that does not use PyTorch all such calls count, and loading of kernels "
                        "with them, at 5 % or more.",
                    .saves = "½, 9/10, all of it",
                    .needs = kNeeds,
                    .check = Check};

}  // namespace gapless::internal::allocation_rule
