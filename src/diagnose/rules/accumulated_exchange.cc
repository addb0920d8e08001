// SPDX-License-Identifier: Apache-2.0
// Gradients are accumulated over several passes, and exchanged after each of them: all but the last exchange are for
// nothing, since the sums are exchanged once more.
//
// The affected time is what the ranks wait in collectives (on a device: what of them is not hidden), times the share of
// the passes that need not exchange. The gain: all of it goes at most; some of the waiting is for ranks that are late,
// which stays: four fifths are expected, half in the cautious case. These shares are assumptions.
#include <algorithm>

#include "analyses/rows/backward_exchange.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/host_step_view.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::accumulated_exchange_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "host_steps", "backward_exchange"};
constexpr double kAccumulatedShare = 0.03;  // as for other changes of a line or two
constexpr double kMinExchanging = 0.9;      // of the passes
constexpr double kLeast = 0.5, kExpected = 0.8;

struct Passes {
  int64_t updates = 0, passes = 0, exchanging = 0, exchanges = 0;
  int64_t for_each() const { return updates > 0 ? passes / updates : 0; }
  bool AllExchange() const {
    return for_each() >= 2 && static_cast<double>(exchanging) >= kMinExchanging * static_cast<double>(passes);
  }
};

Passes Read(const BackwardExchangeRows& rows) {
  Passes all;
  for (size_t row = 0; row < rows.rows(); ++row) {
    all.updates += rows.Int(row, "updates"), all.passes += rows.Int(row, "passes");
    all.exchanging += rows.Int(row, "exchanging"), all.exchanges += rows.Int(row, "exchanges");
  }
  return all;
}

Bottleneck Describe(const Passes& passes, double share, const std::string& cost) {
  const int64_t k = passes.for_each();
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("gradients are exchanged ", k, " times for every update: all but one take ", cost);
  found.description =
      StrCat("An update follows ", k,
             " passes, whose gradients add up, and each of them exchanges the sums so far. Only the last "
             "exchange is needed.");
  found.evidence.push_back(
      {.text = StrCat(passes.exchanging, " of ", FormatCounted(passes.passes, "pass", "passes"), " exchange, by ",
                      FormatCounted(passes.exchanges, "collective"), "; ", FormatCounted(passes.updates, "update")),
       .value = static_cast<double>(k),
       .unit = "passes",
       .table = "backward_exchange"});
  found.recommendations.push_back({StrCat("exchange in the last of ", k, " passes only"), fixes::kNosync.Item(),
                                   "with model.no_sync():  # around all passes but the last before optimizer.step()",
                                   "minutes"});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const Passes passes = Read(tables.Get<BackwardExchangeRows>());
  if (!passes.AllExchange()) return std::vector<Bottleneck>{};
  const double needless = 1 - 1 / static_cast<double>(passes.for_each());
  const HostStepView host(tables);
  if (host.applies(tables)) {
    const double ns = needless * static_cast<double>(host.Sum("collective_ns"));
    const double share = host.Share(static_cast<int64_t>(ns));
    if (share < kAccumulatedShare) return std::vector<Bottleneck>{};
    Bottleneck found = Describe(passes, share, host.CostText(static_cast<int64_t>(ns)));
    found.gain = host.GainOf(ns * kLeast, ns * kExpected, ns, 0.6);
    return std::vector{std::move(found)};
  }
  const LedgerView& ledger = ReadLedger(tables);
  const double ns = needless * static_cast<double>(ledger.total.exposed_comm_ns);
  const double share = ledger.Share(static_cast<int64_t>(ns));
  if (ledger.total.wall_ns == 0 || share < kAccumulatedShare) return std::vector<Bottleneck>{};
  Bottleneck found = Describe(passes, share, ledger.CostText(static_cast<int64_t>(ns)));
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = ns * kLeast,
                             .expected_ns = ns * kExpected,
                             .high_ns = ns,
                             .confidence = 0.6});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(accumulated_exchange) = {.id = "accumulated_exchange",
                              .type = BottleneckType::kMultiGpuComm,
                              .title = "Gradients that are accumulated are exchanged after every pass",
                              .why =
                                  "Passes of DistributedDataParallel or FSDP between two updates of the optimiser: "
                                  "where there are two or more, and "
                                  "nine of ten are followed by an all-reduce or reduce-scatter. Reported where the "
                                  "exchanges that are not needed, "
                                  "(K - 1) / K of the waiting in collectives, take 3 % of the analysed time or more.",
                              .saves = "½, 8/10, all of it",
                              .needs = kNeeds,
                              .check = Check};

}  // namespace gapless::internal::accumulated_exchange_rule
