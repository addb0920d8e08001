// SPDX-License-Identifier: Apache-2.0
// Pages of managed memory move when somebody touches them.
//
// A kernel that touches a page of the host stands still until it is there; the driver moves pages of 4 KiB to 2 MiB,
// far below the rate of the bus. The affected time is that of all such moves, whether a kernel runs meanwhile or not:
// it waits for them. Moves that the program asked for (cudaMemPrefetchAsync) do not count. The gain: moved ahead in one
// piece they are faster and hide under other work (all: high); half, probably, a quarter at least.
#include <algorithm>
#include <iterator>

#include "analyses/rows/copies.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"

namespace gapless::internal::managed_memory_rule {
namespace {

constexpr double kManagedShare = 0.05;  // TraceLens' line for copies between host and device
constexpr std::string_view kNeeds[] = {"ledger", "copies"};

Evidence EvidenceOf(const CopiesRows& copies, size_t row, const LedgerView& ledger) {
  const bool to_device = copies.Text(row, "kind").starts_with("h2d");
  const int64_t calls = copies.Int(row, "calls"), ns = copies.Int(row, "total_ns");
  const int64_t bytes = copies.IsNull(row, "bytes") ? 0 : copies.Int(row, "bytes");
  const std::string size =
      bytes > 0 && calls > 0 ? StrCat(", ", FormatBytes(bytes), ", ", FormatBytes(bytes / calls), " each") : "";
  return {.text = StrCat(FormatCounted(calls, "move"), to_device ? " to the GPU" : " to the host", size, ", ",
                         ledger.CostText(ns)),
          .value = static_cast<double>(ns),
          .unit = "ns",
          .table = "gpu_op",
          .rows = IdsOf(copies, {row}, "gpu_op_id")};
}

// Page faults that the recording counted; empty: none were recorded.
std::vector<Evidence> FaultEvidence(const Run& run) {
  int64_t of_gpus = 0, of_host = 0;
  for (const RunTrace* of : run.primary()) {
    const PageFaultTable& faults = of->trace->page_faults;
    for (size_t row = 0; row < faults.size(); ++row)
      (faults.device[row] == kAbsent32 ? of_host : of_gpus) += faults.count[row] == kAbsent ? 1 : faults.count[row];
  }
  if (of_gpus + of_host == 0) return {};
  return {{.text = StrCat(FormatCounted(of_gpus, "page fault"), " of GPUs and ", of_host, " of the host"),
           .value = static_cast<double>(of_gpus + of_host),
           .unit = "",
           .table = "page_fault"}};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto copies = tables.Get<CopiesRows>();
  Bottleneck found;
  int64_t ns = 0, calls = 0;
  for (size_t row = 0; row < copies.rows(); ++row) {
    if (!copies.Text(row, "kind").ends_with("_managed")) continue;
    ns += copies.Int(row, "total_ns"), calls += copies.Int(row, "calls");
    found.evidence.push_back(EvidenceOf(copies, row, ledger));
  }
  std::ranges::move(FaultEvidence(tables.run()), std::back_inserter(found.evidence));
  const double share = ledger.Share(ns);
  if (share < kManagedShare) return std::vector<Bottleneck>{};
  found.share_of_step = share;
  found.title = StrCat("pages of managed memory move for ", ledger.CostText(ns));
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time pages of managed memory move between host and GPU "
             "because somebody touched them, in ",
             FormatCounted(calls, "piece"), ". A kernel that touches such a page stands still until it is there.");
  found.recommendations.push_back({"move the data before it is touched, all at once and beside other work", "",
                                   "cudaMemPrefetchAsync(p, bytes, device, stream);", "minutes"});
  found.recommendations.push_back({"write it on the GPU first, or say who reads it, so that it need not move back", "",
                                   "cudaMemAdvise(p, bytes, cudaMemAdviseSetPreferredLocation, device);", "hours"});
  const auto stake = static_cast<double>(ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.25 * stake,
                             .expected_ns = 0.5 * stake,
                             .high_ns = stake,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(managed_memory) = {
    .id = "managed_memory",
    .type = BottleneckType::kIo,
    .title = "Pages of managed memory move when they are touched",
    .why =
        "Time in which pages of managed memory (cudaMallocManaged) move between host and GPU because of page faults, "
        "also beside kernels, which wait for them. Moves that the program asked for are left out. Reported at 5 % of "
        "the analysed time or more, TraceLens' line for copies.",
    .saves = "¼, ½, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::managed_memory_rule
