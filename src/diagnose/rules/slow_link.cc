// SPDX-License-Identifier: Apache-2.0
// Links, a host's network or what several hosts share transfer more slowly than others with the same messages. The
// affected time is what the slowest path takes longer than usual, as far as communication is exposed at all. The gain:
// all of it goes when the link is as fast as the others (high); we expect half of that, since what else the transfers
// then wait for is not known, and promise a tenth. These shares are assumptions.
#include <algorithm>

#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/slow_part_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::slow_link_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "slow_parts"};

struct Words {
  std::string_view part, title, advice;
};
constexpr Words kWords[] = {
    {"rank", "the link of ",
     "check the network card and cable of this rank's GPU (ibstat, ethtool -S, mlxlink), then the route to it; run "
     "nccl-tests between this host and another"},
    {"host", "the network of ",
     "check this host's network cards and their route to the switch (ibstat, ethtool -S); run nccl-tests between this "
     "host and another, and leave the host out if it stays slow"},
    {"hosts", "what connects ",
     "these hosts share something, most likely a switch or its uplink: check its ports for errors and congestion, and "
     "place the job on other hosts meanwhile"},
    {"group", "a link of ",
     "no other communication of these ranks was recorded that would tell them apart: run nccl-tests between pairs of "
     "them, and check nvidia-smi nvlink -e where they share a host"},
};

const Words& WordsOf(std::string_view part) {
  for (const Words& words : kWords)
    if (words.part == part) return words;
  return kWords[3];
}

Bottleneck Describe(const LedgerView& ledger, const SlowPartsRows& parts, size_t row, double step_share) {
  const Words& words = WordsOf(parts.Text(row, "part"));
  const std::string name = NameOfPart(parts, row);
  const auto cost_ns = static_cast<int64_t>(step_share * static_cast<double>(ledger.total.wall_ns));
  Bottleneck found;
  found.share_of_step = step_share;
  found.part_of = "exposed_communication";
  found.title = StrCat(words.title, name, " is slow: transfers take ", FormatNumber(parts.Real(row, "ratio"), 1),
                       " times as long, ", ledger.CostText(cost_ns));
  found.description = StrCat(
      "Transfers through it take longer than those of others with the same messages, after the last "
      "rank has come; up to ",
      FormatPercent(step_share), " of the time is lost to that.");
  found.evidence.push_back(EvidenceOfPart(parts, row));
  found.recommendations.push_back({std::string(words.advice), "", "", "hours"});
  const auto ns = static_cast<double>(cost_ns);
  found.gain = EstimateGain(
      {.wall_ns = ledger.total.wall_ns, .low_ns = ns * 0.1, .expected_ns = ns * 0.5, .high_ns = ns, .confidence = 0.4});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto parts = tables.Get<SlowPartsRows>();
  std::vector<Bottleneck> found;
  const double step_ns =
      ledger.step_rows > 0 ? static_cast<double>(ledger.total.wall_ns) / static_cast<double>(ledger.step_rows) : 0;
  for (size_t row = 0; row < parts.rows(); ++row) {
    if (parts.Text(row, "kind") != "link" || step_ns <= 0) continue;
    const double share = std::min(static_cast<double>(parts.Int(row, "excess_ns")) / step_ns,
                                  ledger.Share(ledger.total.exposed_comm_ns));
    if (share >= kLateShare) found.push_back(Describe(ledger, parts, row, share));
  }
  return found;
}

}  // namespace

RULE(slow_link) = {
    .id = "slow_link",
    .type = BottleneckType::kMultiGpuComm,
    .title = "A link is slower than the others",
    .why =
        "Transfers of process groups and of pairs of ranks, held against those with the same messages: the shortest "
        "duration over the ranks is the transfer, so waiting for a late rank is not in it. Reported if a path takes 15 "
        "% "
        "longer than usual beyond what paths differ by (at most 1 % of namings by chance), and costs 2 % of a step. "
        "The "
        "smallest set of ranks that explains all slow paths is named: a rank, a host, several hosts, or the group "
        "where "
        "nothing tells its ranks apart. Four groups or pairs with the same messages are needed.",
    .saves = "1/10, ½, all of it. Part of exposed_communication",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::slow_link_rule
