// SPDX-License-Identifier: Apache-2.0
// Recordings of communication alone, with the time of each call: a rank that the others wait for, and what the calls
// take and reach.
//
// There are no steps, so there is no gain. Severity: the share of the ranks' time in collectives that is waiting for
// one rank, at least 0.4; 0.2 where no rank is late.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "analyses/rows/comm_ranks.h"
#include "base/strings.h"
#include "diagnose/rule.h"

namespace gapless::internal::comm_recorded_rule {
namespace {

constexpr std::string_view kNeeds[] = {"comm_ranks"};
constexpr double kMostlyLast = 0.5, kWaitingShare = 0.1;  // assumed
constexpr int64_t kFewestCompared = 10;
constexpr double kTimed = 0.2, kLate = 0.4;
constexpr size_t kMaxKinds = 4;

std::string NameOf(const CommRanksRows& ranks, size_t row) {
  return ranks.IsNull(row, "rank") ? StrCat("recording ", ranks.Int(row, "trace"))
                                   : StrCat("rank ", ranks.Int(row, "rank"));
}

// The rank that comes last most often; nullopt: none does in half of what was compared.
std::optional<size_t> LateRank(const CommRanksRows& ranks) {
  std::optional<size_t> late;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    if (!ranks.IsNull(row, "kind") || ranks.Int(row, "compared") < kFewestCompared) continue;
    const double share =
        static_cast<double>(ranks.Int(row, "times_last")) / static_cast<double>(ranks.Int(row, "compared"));
    if (share < kMostlyLast) continue;
    if (!late || ranks.Int(row, "caused_ns") > ranks.Int(*late, "caused_ns")) late = row;
  }
  return late;
}

struct Kind {
  int64_t calls = 0, total_ns = 0;
  double weighted = 0;  // bandwidth times time
};

std::vector<std::pair<std::string, Kind>> KindsOf(const CommRanksRows& ranks) {
  std::map<std::string, Kind> kinds;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    if (ranks.IsNull(row, "kind")) continue;
    Kind& kind = kinds[std::string(ranks.Text(row, "kind"))];
    const int64_t ns = ranks.Int(row, "total_ns");
    kind.calls += ranks.Int(row, "calls"), kind.total_ns += ns;
    kind.weighted += ranks.IsNull(row, "bus_gbps") ? std::numeric_limits<double>::quiet_NaN()
                                                   : ranks.Real(row, "bus_gbps") * static_cast<double>(ns);
  }
  std::vector<std::pair<std::string, Kind>> ordered(kinds.begin(), kinds.end());
  std::ranges::stable_sort(ordered, std::greater(), [](const auto& kind) { return kind.second.total_ns; });
  return ordered;
}

std::string KindText(const std::string& name, const Kind& kind, int64_t total_ns) {
  const double gbps = kind.weighted / static_cast<double>(kind.total_ns);
  std::string text =
      StrCat(name, " takes ", FormatPercent(static_cast<double>(kind.total_ns) / static_cast<double>(total_ns)),
             " of the time in collectives, ", FormatCounted(kind.calls, "call"));
  if (gbps == gbps) text += StrCat(", ", FormatDigits(gbps, 3), " GB/s on the bus");
  return text;
}

Evidence EvidenceOf(std::string text, double value, std::string_view unit) {
  return {.text = std::move(text), .value = value, .unit = std::string(unit), .table = "comm_ranks"};
}

void SayLate(const CommRanksRows& ranks, size_t late, double share, Bottleneck& found) {
  const int64_t times = ranks.Int(late, "times_last"), compared = ranks.Int(late, "compared");
  found.severity = std::max(kLate, share);
  found.title = StrCat(NameOf(ranks, late), " comes last to ", FormatCount(times), " of ", FormatCount(compared),
                       " collectives: the others wait ", FormatDuration(ranks.Int(late, "caused_ns")));
  found.evidence.push_back(EvidenceOf(StrCat("waiting for ", NameOf(ranks, late), ": ", FormatPercent(share),
                                             " of the time that the others are in collectives"),
                                      share, "share"));
  found.recommendations.push_back(
      {StrCat("record ", NameOf(ranks, late), " and another one: what does it do more, or slower?"), "",
       "gapless profile -- torchrun … train.py", "hours"});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto ranks = tables.Get<CommRanksRows>();
  const auto kinds = KindsOf(ranks);
  int64_t total_ns = 0;
  for (const auto& [name, kind] : kinds) total_ns += kind.total_ns;
  if (total_ns == 0) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.description =
      "The time of a collective includes waiting for the rank that comes last; the same collective is shortest there.";
  const std::optional<size_t> late = LateRank(ranks);
  const int64_t others_ns = late ? total_ns - ranks.Int(*late, "total_ns") : 0;
  const double share =
      others_ns > 0 ? static_cast<double>(ranks.Int(*late, "caused_ns")) / static_cast<double>(others_ns) : 0;
  if (late && share >= kWaitingShare) {
    SayLate(ranks, *late, std::min(share, 1.0), found);
  } else {
    found.severity = kTimed;
    found.title = KindText(kinds[0].first, kinds[0].second, total_ns);
    found.recommendations.push_back({"hold the bandwidth by size of message against a benchmark on the same machines",
                                     "", "all_reduce_perf -b 8 -e 8G -f 2 -g 8 > nccl.log; gapless analyze nccl.log",
                                     "minutes"});
  }
  for (size_t at = 0; at < std::min(kinds.size(), kMaxKinds); ++at)
    found.evidence.push_back(EvidenceOf(KindText(kinds[at].first, kinds[at].second, total_ns),
                                        static_cast<double>(kinds[at].second.total_ns), "ns"));
  return std::vector{std::move(found)};
}

}  // namespace

RULE(comm_recorded) = {
    .id = "comm_recorded",
    .type = BottleneckType::kMultiGpuComm,
    .title = "What collectives take, and who comes last",
    .why =
        "Recordings of communication alone that time each call (NCCL Inspector, Flight Recorder with timed events): a "
        "rank that comes last to half of ten compared collectives or more, and for which the others wait 10 % of their "
        "time in collectives; else the time and bandwidth of each kind. Claims no time of a step. Severity: that "
        "share, "
        "at least 0.4; 0.2 where no rank is late.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::comm_recorded_rule
