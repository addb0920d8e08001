// SPDX-License-Identifier: Apache-2.0
// Copies between host and device through memory the system may move.
//
// The driver copies such memory piece by piece through a buffer of its own: the call holds up its thread until the
// bytes are staged, and the device gets them at half the rate of the bus or less. The affected time is that in which
// large copies of this kind ran and nothing computed, and the device's idle time during the call. Small ones cost
// nothing extra (analysis copy_places). From three complete steps on the median step's cost counts for all: the first
// copy of a recording may take ten times as long as the others. The gain: from pinned memory they run at least twice as
// fast (half: low), and with non_blocking=True on a stream of their own under computation (all of it: high); we expect
// three quarters.
#include "analyses/rows/copy_places.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"
#include "fixes/names.h"

namespace gapless::internal::pageable_copies_rule {
namespace {

// TraceLens flags copies between host and device above 5 % of the time.
constexpr double kPageableCopiesShare = 0.05;
// Copies to the device that take more than half of the step.
constexpr double kMostlyCopiesShare = 0.50;

constexpr std::string_view kNeeds[] = {"ledger", "copy_places"};
constexpr CopyPlacesRows::TextColumn kKey[] = {"kind", "operator", "source_line"};

struct Copies {
  int64_t stake_ns = 0;
  int64_t to_device_ns = 0;  // part of the copy time that goes to the device
  std::vector<RowGroup> places;
};

Copies Collect(const CopyPlacesRows& places) {
  Copies copies;
  copies.places = GroupRows(places, kKey, [&](size_t row) {
    const bool pageable = places.Text(row, "kind").ends_with("_pageable");
    return pageable ? places.Int(row, "steady_ns") : 0;
  });
  for (const RowGroup& place : copies.places) {
    copies.stake_ns += place.value;
    if (places.Text(place.first(), "kind").starts_with("h2d")) copies.to_device_ns += place.value;
  }
  return copies;
}

Evidence EvidenceOf(const CopyPlacesRows& places, const RowGroup& place, const LedgerView& ledger) {
  const size_t row = place.first();
  const int64_t bytes = SumOver(places, place, "bytes"), ns = SumOver(places, place, "device_ns");
  const std::string line = TextOr(places, row, "source_line", "");
  const std::string rate =
      ns > 0 ? StrCat(" at ", FormatNumber(static_cast<double>(bytes) / static_cast<double>(ns), 1), " GB/s") : "";
  const bool to_device = places.Text(row, "kind").starts_with("h2d");
  const int64_t alone = SumOver(places, place, "large_exposed_ns"), idle = SumOver(places, place, "idle_ns");
  const bool uneven = 10 * place.value < 9 * (alone + idle);
  return {.text = StrCat(TextOr(places, row, "operator", "outside of operators"), InLine(line), ": ",
                         FormatCounted(SumOver(places, place, "calls"), "copy", "copies"),
                         to_device ? " to the GPU" : " to the host", ", ", FormatBytes(bytes), rate,
                         "; nothing else runs on the GPU for ", ledger.CostText(alone),
                         ", and it waits for the data for ", ledger.CostText(idle),
                         uneven ? StrCat("; some steps take most of this time, and what the median step loses counts: ",
                                         ledger.CostText(place.value))
                                : ""),
          .value = static_cast<double>(place.value),
          .unit = "ns",
          .table = "gpu_op",
          .rows = IdsOf(places, place.rows, "gpu_op_id"),
          .source = line};
}

std::vector<Recommendation> Recommend(const CopyPlacesRows& places, const Copies& copies, Workload workload) {
  std::vector<Recommendation> all;
  const std::string line = InLine(TextOr(places, copies.places[0].first(), "source_line", ""));
  if (2 * copies.to_device_ns >= copies.stake_ns)
    all.push_back({StrCat(workload == Workload::kTraining ? "load batches into" : "put inputs into",
                          " pinned memory and copy them without waiting", line),
                   fixes::kPin.Item(), PinnedCopyCode(workload), "minutes"});
  else
    all.push_back({StrCat("copy results to the host into pinned memory, all at once, and read them a step later", line),
                   fixes::kPin.Item(),
                   "out = torch.empty(x.shape, dtype=x.dtype, pin_memory=True); out.copy_(x, non_blocking=True)",
                   "minutes"});
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto places = tables.Get<CopyPlacesRows>();
  const Copies copies = Collect(places);
  const double share = ledger.Share(copies.stake_ns);
  if (share < kPageableCopiesShare) return std::vector<Bottleneck>{};
  const bool mostly = ledger.Share(copies.to_device_ns) > kMostlyCopiesShare;
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("copies through pageable memory take ", ledger.CostText(copies.stake_ns));
  found.description = StrCat("For ", FormatPercent(share),
                             " of the time the GPU only copies, or waits for, data in host memory that is not pinned",
                             mostly ? "; copies to the GPU take more than half of the time" : "", ".");
  for (size_t i = 0; i < copies.places.size() && i < 3; ++i)
    found.evidence.push_back(EvidenceOf(places, copies.places[i], ledger));
  if (UsesPyTorch(tables.run()))
    found.recommendations = Recommend(places, copies, WorkloadOf(tables.run()));
  else
    found.recommendations.push_back(
        {"copy between the GPU and pinned memory: allocate the host's buffers so, or pin those that there are", "",
         "cudaMallocHost(&p, bytes);  // or cudaHostRegister(p, bytes, 0)", "minutes"});
  const auto stake = static_cast<double>(copies.stake_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = stake * 0.5,
                             .expected_ns = stake * 0.75,
                             .high_ns = stake,
                             .confidence = 0.7});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(pageable_copies) = {
    .id = "pageable_copies",
    .type = BottleneckType::kCpuGpuSync,
    .title = "Copies from or to pageable memory hold up host and GPU",
    .why =
        "Copies of more than 64,000 bytes between the GPU and host memory that is not pinned: time in which they run "
        "and nothing computes, and idle time of the GPU while their call is at work; with three complete steps or "
        "more, what the median step loses, for all of them. nsys lists all of them (cuda_memcpy_async). This rule "
        "reports them at 5 % of the analysed time or more, TraceLens' line for copies. Copies to the GPU that take "
        "more than half of the time are named as such.",
    .saves = "½, ¾, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::pageable_copies_rule
