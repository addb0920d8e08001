// SPDX-License-Identifier: Apache-2.0
// A program copies and computes in turns, in one stream, so that the GPU never does both.
//
// Engines for copies work beside kernels, but not within one stream. Where copies and kernels of a program that does
// not use PyTorch alternate several times in the only stream that it uses, a second one would hide the shorter of the
// two. The affected time is the copies between host and GPU beside which nothing computes, and at most the time of
// kernels. Half of it goes, probably: some copies wait for what the kernels compute.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyses/rows/copies.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal::serial_copies_rule {
namespace {

// Ours: a copy, a kernel and a copy back are no loop.
constexpr int64_t kFewestTurns = 4;
constexpr double kCopyShareOfWork = 0.10, kSerialShare = 0.05;
constexpr std::string_view kNeeds[] = {"ledger", "copies"};

bool IsBetweenHostAndDevice(std::string_view kind) {
  return (kind.starts_with("h2d") || kind.starts_with("d2h")) && !kind.ends_with("_managed");
}

// The number of times that a device goes from copies to kernels; 0 where some device uses several streams.
int64_t TurnsIn(const Run& run) {
  int64_t turns = 0;
  for (const RunTrace* of : run.primary()) {
    const GpuOpTable& ops = of->trace->gpu_ops;
    std::map<int32_t, std::pair<std::set<int64_t>, bool>> devices;  // streams; is the last one a copy?
    for (size_t row = 0; row < ops.size(); ++row) {
      const bool copy = ops.kind[row] == GpuOpKind::kMemcpy, kernel = ops.kind[row] == GpuOpKind::kKernel;
      if (!copy && !kernel) continue;
      auto& [streams, copied] = devices[ops.device[row]];
      streams.insert(ops.stream[row]);
      if (streams.size() > 1) return 0;
      turns += kernel && copied ? 1 : 0;
      copied = copy;
    }
  }
  return turns;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto copies = tables.Get<CopiesRows>();
  Bottleneck found;
  int64_t exposed_ns = 0;
  for (size_t row = 0; row < copies.rows(); ++row) {
    if (!IsBetweenHostAndDevice(copies.Text(row, "kind")) || copies.IsNull(row, "exposed_ns")) continue;
    const int64_t ns = copies.Int(row, "exposed_ns");
    exposed_ns += ns;
    found.evidence.push_back(
        {.text = StrCat(FormatCounted(copies.Int(row, "calls"), "copy", "copies"),
                        copies.Text(row, "kind").starts_with("h2d") ? " to the GPU" : " to the host", ", ",
                        ledger.CostText(ns), " without a kernel beside them"),
         .value = static_cast<double>(ns),
         .unit = "ns",
         .table = "gpu_op",
         .rows = IdsOf(copies, {row}, "gpu_op_id")});
  }
  const int64_t busy_ns = ledger.total.wall_ns - ledger.total.idle_ns;
  const int64_t stake_ns = std::min(exposed_ns, ledger.total.compute_ns);
  const double share = ledger.Share(stake_ns);
  if (share < kSerialShare || static_cast<double>(exposed_ns) < kCopyShareOfWork * static_cast<double>(busy_ns) ||
      UsesPyTorch(tables.run()))
    return std::vector<Bottleneck>{};
  const int64_t turns = TurnsIn(tables.run());
  if (turns < kFewestTurns) return std::vector<Bottleneck>{};
  found.share_of_step = share;
  found.title = StrCat("copies and kernels take turns in one stream: ", ledger.CostText(stake_ns), " could overlap");
  found.description = StrCat("All work is in one stream, which goes from copies to kernels ",
                             FormatCounted(turns, "time"), ": the GPU copies or computes, never both.");
  found.recommendations.push_back(
      {"copy the next piece in a stream of its own while kernels work on this one, from pinned memory", "",
       "cudaStreamCreate(&copies); cudaMemcpyAsync(d, p, bytes, cudaMemcpyHostToDevice, copies);", "hours"});
  found.part_of = "pageable_copies";
  const auto stake = static_cast<double>(stake_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0.1 * stake,
                             .expected_ns = 0.5 * stake,
                             .high_ns = stake,
                             .confidence = 0.3});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(serial_copies) = {
    .id = "serial_copies",
    .type = BottleneckType::kIo,
    .title = "Copies and kernels take turns in one stream",
    .why =
        "Programs that do not use PyTorch: all kernels and copies of a device are in one stream, which goes from "
        "copies "
        "to kernels four times or more, and copies between host and GPU beside which nothing computes take 10 % of the "
        "GPU's working time or more. Counts the shorter of copies and kernels, and is reported at 5 % of the analysed "
        "time or more (figures: ours).",
    .saves = "1/10, ½, all of it. Part of pageable_copies",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::serial_copies_rule
