// SPDX-License-Identifier: Apache-2.0
// The ranks wait for a slower rank. The affected time is the part of exposed communication in which ranks wait for
// others. The first collective of the recording does not count, because ranks start their recorders at different
// moments. The rank that causes most of it is named with what it takes longer over than the median rank. Where there
// are enough ranks that do the same, table slow_parts says who is late beyond chance, a host as a whole too, and only
// that is named. The gain: all of the waiting goes when the ranks become even (high); some rank is always last: we
// expect half of what the named rank causes, and promise a tenth. These shares are assumptions.
#include <algorithm>
#include <map>

#include "analyses/idle_gaps.h"
#include "analyses/rows/collective_groups.h"
#include "analyses/rows/ranks.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/slow_part_view.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::straggler_rule {
namespace {

// Less waiting is enough with a cause that can be shown: the ranks' own work differs by kImbalance, or one rank causes
// most of it and is behind in something.
constexpr double kStragglerShareWithCause = 0.02;

// From so many ranks with so many steps on, those that table slow_parts does not name are late by chance.
constexpr size_t kEnoughRanks = 8;
constexpr int64_t kEnoughSteps = 3;

constexpr std::string_view kNeeds[] = {"ledger", "ranks", "idle", "collective_groups", "slow_parts"};

struct Waiting {
  int64_t ns = 0;                // time of all ranks
  int64_t caused_ns = 0;         // caused waiting in all collectives, before computation hides some of it
  size_t slow = 0;               // row of the rank that causes most
  size_t heavy = 0;              // row of the rank with most own work
  double imbalance = 1;          // its own work over the least
  std::optional<size_t> part{};  // row of slow_parts: the part that is late; `slow` is the rank of it that causes most
  bool judged = false;           // slow_parts had enough to go by: whom it does not name is not named
};

// Takes the part that is late beyond chance, if there is one.
void TakePart(const RanksRows& ranks, const SlowPartsRows& parts, Waiting& waiting) {
  int64_t fewest_steps = kEnoughSteps;
  for (size_t row = 0; row < ranks.rows(); ++row) fewest_steps = std::min(fewest_steps, ranks.Int(row, "steps"));
  waiting.judged = ranks.rows() >= kEnoughRanks && fewest_steps >= kEnoughSteps;
  waiting.part = LatestPart(parts);
  if (!waiting.part) return;
  const std::vector<int64_t> members = RanksOfPart(parts, *waiting.part);
  const auto caused = [&](size_t row) {
    return std::ranges::binary_search(members, ranks.Int(row, "rank")) ? ranks.Int(row, "caused_wait_ns") : -1;
  };
  for (size_t row = 0; row < ranks.rows(); ++row)
    if (caused(row) > caused(waiting.slow)) waiting.slow = row;
}

Waiting Read(const RanksRows& ranks) {
  Waiting waiting;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    waiting.ns += ranks.Int(row, "waiting_ns"), waiting.caused_ns += ranks.Int(row, "caused_wait_ns");
    if (ranks.Int(row, "caused_wait_ns") > ranks.Int(waiting.slow, "caused_wait_ns")) waiting.slow = row;
    if (!ranks.IsNull(row, "imbalance") && ranks.Real(row, "imbalance") > waiting.imbalance)
      waiting.heavy = row, waiting.imbalance = ranks.Real(row, "imbalance");
  }
  return waiting;
}

template <class R>
std::string NameOf(const TypedRows<R>& rows, size_t row) {
  return rows.IsNull(row, "rank") ? StrCat("GPU ", rows.Int(row, "device")) : StrCat("rank ", rows.Int(row, "rank"));
}

struct Reason {
  std::string_view part, what, advice;
};
constexpr Reason kReasons[] = {
    {"more_kernel_work", "more kernel work",
     "give all ranks the same work: equal batches, sequences of like length, even shards"},
    {"slower_kernels", "the same kernels, run more slowly",
     "check this GPU's clocks, temperature and other processes: nvidia-smi -q -d PERFORMANCE,CLOCK"},
    {"copies", "copies", "check this rank's transfers and its place on the PCIe and NUMA topology: nvidia-smi topo -m"},
    {"data", "waiting for its data loader", "check this rank's loader, its shard of the data set and its cores"},
    {"launch", "waiting for launches", "check this rank's host: cores pinned per rank, nothing else running on them"},
    {"sync", "waiting in calls that block", "remove what only this rank waits for: logging, .item(), evaluation"},
    {"host", "waiting for its host",
     "remove what only this rank does on the host: logging, checkpoints, progress bars"},
    {"unknown", "idle time of unrecorded cause", "record this rank with stacks to see what its host does"},
};

const Reason* ReasonOf(const RanksRows& ranks, size_t row) {
  for (const Reason& reason : kReasons)
    if (reason.part == ranks.Text(row, "behind")) return &reason;
  return nullptr;
}

// Is the rank with most of the waiting behind the others by more than steps vary by? Not known: as if it were.
bool IsBehind(const RanksRows& ranks, size_t row) {
  const int64_t steps = ranks.Int(row, "steps");
  if (ranks.IsNull(row, "behind_ns") || steps == 0 || ranks.IsNull(row, "step_ns")) return true;
  return static_cast<double>(ranks.Int(row, "behind_ns")) >=
         kLateShare * static_cast<double>(ranks.Int(row, "step_ns"));
}

// Returns true if a single rank causes most of the waiting.
bool OneCauses(const RanksRows& ranks, const Waiting& waiting) {
  if (waiting.part || waiting.judged) return waiting.part.has_value();
  return IsBehind(ranks, waiting.slow) && static_cast<double>(ranks.Int(waiting.slow, "caused_wait_ns")) >=
                                              kOneStragglerShare * static_cast<double>(waiting.caused_ns);
}

// Does the rank come last to more than half of the collectives, though others cause as much waiting?
bool IsLastMostOften(const RanksRows& ranks, const Waiting& waiting) {
  if (waiting.part || waiting.judged) return false;
  return IsBehind(ranks, waiting.slow) &&
         2 * ranks.Int(waiting.slow, "times_last") > ranks.Int(waiting.slow, "compared");
}

std::string TitleOf(const RanksRows& ranks, const Waiting& waiting, const std::string& name, const std::string& cost) {
  if (OneCauses(ranks, waiting))
    return StrCat(name, name.starts_with("ranks ") ? " are" : " is", " late: the others wait ", cost);
  if (IsLastMostOften(ranks, waiting)) return StrCat("ranks wait ", cost, ", most often for ", name);
  return StrCat("ranks wait ", cost, " for each other");
}

std::string_view CauseOf(const RanksRows& ranks, const Waiting& waiting, const std::string& name) {
  if (waiting.part)
    return name.starts_with("ranks ") ? " are behind those that do the same" : " is behind those that do the same";
  if (OneCauses(ranks, waiting)) return " causes most of it";
  return IsLastMostOften(ranks, waiting) ? " comes last most often" : "";
}

// The place in the program where the rank loses that time, as far as recorded: the kernel, or what its host has open in
// idle gaps.
struct Where {
  std::string what;  // kernel or operator; "" unknown
  std::string line;
};

std::string Largest(const std::map<std::string_view, int64_t>& sums) {
  const auto most =
      std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == sums.end() ? std::string() : std::string(most->first);
}

// The idle time of each part that a rank is behind in; the other parts are not idle time.
constexpr std::string_view kIdleParts[kIdleCauses] = {"data", "launch", "sync", "host", "unknown"};

Where WhereIsIt(const RanksRows& ranks, size_t row, Tables& tables) {
  if (!ranks.IsNull(row, "behind_kernel")) return {std::string(ranks.Text(row, "behind_kernel")), ""};
  const auto* const part = std::ranges::find(kIdleParts, ranks.Text(row, "behind"));
  if (part == std::end(kIdleParts)) return {};
  const auto cause = static_cast<size_t>(part - std::begin(kIdleParts));
  const std::vector<IdlePlace> places = IdlePlacesOf(tables, ranks.Int(row, "trace"));
  std::map<std::string_view, int64_t> operators, lines;
  for (const IdlePlace& place : places) {
    if (place.ns[cause] <= 0) continue;
    if (!place.operator_name.empty()) operators[place.operator_name] += place.ns[cause];
    if (!place.source_line.empty()) lines[place.source_line] += place.ns[cause];
  }
  return {Largest(operators), Largest(lines)};
}

std::vector<Evidence> EvidenceOf(const RanksRows& ranks, const Waiting& waiting, const Where& where) {
  const size_t slow = waiting.slow;
  const int64_t caused = ranks.Int(slow, "caused_wait_ns");
  std::vector<Evidence> all{
      {StrCat(NameOf(ranks, slow), " comes last to ", FormatCount(ranks.Int(slow, "times_last")), " of ",
              FormatCount(ranks.Int(slow, "compared")), " collectives; the others wait ", FormatDuration(caused),
              " for it, summed over them: ",
              FormatPercent(static_cast<double>(caused) / static_cast<double>(std::max<int64_t>(1, waiting.caused_ns))),
              " of all waiting"),
       static_cast<double>(caused),
       "ns",
       "ranks",
       {},
       ""}};
  if (const Reason* reason = waiting.part ? nullptr : ReasonOf(ranks, slow))
    all.push_back(
        {.text = StrCat(NameOf(ranks, slow), " takes ", FormatDuration(ranks.Int(slow, "behind_ns")),
                        ranks.Int(slow, "steps") > 0 ? " a step" : "", " longer than the median rank: ", reason->what,
                        where.what.empty() ? "" : StrCat(", most in ", Ellipsize(where.what, 80)), InLine(where.line)),
         .value = static_cast<double>(ranks.Int(slow, "behind_ns")),
         .unit = "ns",
         .table = "ranks",
         .source = where.line});
  if (waiting.imbalance > kImbalance)
    all.push_back({.text = StrCat("own work of ", NameOf(ranks, waiting.heavy), ": ",
                                  FormatDuration(ranks.Int(waiting.heavy, "own_per_step_ns")), ", ",
                                  FormatNumber(waiting.imbalance, 2), " times that of the rank with least"),
                   .value = waiting.imbalance,
                   .table = "ranks"});
  return all;
}

// The longest waits, to be looked at.
Evidence LongestWaits(const CollectiveGroupsRows& groups) {
  const std::vector<size_t> rows = LargestRows(groups, "wait_ns");
  Evidence evidence;
  if (rows.empty()) return evidence;
  const size_t most = rows[0];
  evidence.text = StrCat("most waiting: ", NameOf(groups, most), ", ", FormatDuration(groups.Int(most, "wait_ns")),
                         " in ", groups.Text(most, "kind"));
  evidence.value = static_cast<double>(groups.Int(most, "wait_ns"));
  evidence.unit = "ns";
  evidence.table = "gpu_op";
  evidence.rows = IdsOf(groups, rows, "gpu_op_id");
  return evidence;
}

Recommendation Advise(const RanksRows& ranks, const SlowPartsRows& parts, const Waiting& waiting, const Where& where) {
  if (waiting.part)
    return {
        StrCat(NameOfPart(parts, *waiting.part), ": ", ReasonOfPart(parts, *waiting.part)->advice, InLine(where.line)),
        fixes::kStraggler.Item(), "", "hours"};
  if (!OneCauses(ranks, waiting) && !IsLastMostOften(ranks, waiting))
    return {
        "no single rank is to blame: even out the work that differs from step to step, such as batch contents and host "
        "work",
        fixes::kStraggler.Item(), "", "hours"};
  const Reason* reason = ReasonOf(ranks, waiting.slow);
  const std::string_view advice =
      reason != nullptr ? reason->advice : "record this rank with stacks to see what delays it";
  return {StrCat(NameOf(ranks, waiting.slow), ": ", advice, InLine(where.line)), fixes::kStraggler.Item(), "", "hours"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto ranks = tables.Get<RanksRows>();
  if (ranks.rows() < 2) return std::vector<Bottleneck>{};
  const auto parts = tables.Get<SlowPartsRows>();
  Waiting waiting = Read(ranks);
  TakePart(ranks, parts, waiting);
  const std::string name = waiting.part ? NameOfPart(parts, *waiting.part) : NameOf(ranks, waiting.slow);
  const double share = ledger.Share(waiting.ns);
  const bool one = OneCauses(ranks, waiting);
  const bool cause =
      waiting.imbalance > kImbalance || waiting.part.has_value() || (one && ReasonOf(ranks, waiting.slow) != nullptr);
  if (waiting.caused_ns == 0 || share < (cause ? kStragglerShareWithCause : kStragglerShare))
    return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "exposed_communication";
  found.title = TitleOf(ranks, waiting, name, ledger.CostText(waiting.ns));
  const std::string_view cause_text = CauseOf(ranks, waiting, name);
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time ranks are inside collectives that others have not reached yet and compute nothing",
             cause_text.empty() ? "; no single rank causes most of it" : StrCat("; ", name, cause_text), ".");
  const Where where = WhereIsIt(ranks, waiting.slow, tables);
  found.evidence = EvidenceOf(ranks, waiting, where);
  if (waiting.part) found.evidence.insert(found.evidence.begin(), EvidenceOfPart(parts, *waiting.part));
  found.evidence.push_back(RecordingOf(NameOf(ranks, waiting.slow), tables.run(), ranks.Int(waiting.slow, "trace")));
  found.evidence.push_back(LongestWaits(tables.Get<CollectiveGroupsRows>()));
  found.recommendations.push_back(Advise(ranks, parts, waiting, where));
  const auto ns = static_cast<double>(waiting.ns);
  const double part = waiting.part ? 1
                                   : static_cast<double>(ranks.Int(waiting.slow, "caused_wait_ns")) /
                                         static_cast<double>(waiting.caused_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = ns * 0.1,
                             .expected_ns = ns * std::max(0.1, 0.5 * part),
                             .high_ns = ns,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(straggler) = {
    .id = "straggler",
    .type = BottleneckType::kMultiGpuComm,
    .title = "Ranks wait for a slower one",
    .why =
        "Exposed communication in which ranks wait for other ranks. Collectives are matched over the "
        "ranks: the shortest duration counts as the transfer, the rest as waiting, and the rank that "
        "waits least came last. Reported if exposed waiting takes 5 % of the analysed time; or 2 % if "
        "the ranks' own work (computing and copying) differs by more than a tenth, or if a single rank "
        "causes most of the waiting and is slower in its own work. The first collective that all ranks "
        "recorded does not count, because recorders do not start at the same time. Of eight ranks or more "
        "with three steps only those are named that are behind ranks that do the same beyond chance "
        "(table slow_parts).",
    .saves = "1/10 of it; half of what the named rank causes, at least 1/10; all of it. Part of exposed_communication",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::straggler_rule
