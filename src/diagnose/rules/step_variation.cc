// SPDX-License-Identifier: Apache-2.0
// Some steps take much longer than the others.
//
// The gain: if all outliers became median steps, their excess would go (high). Which of them can be cured depends on
// the cause: we expect half, and promise nothing (low). These shares are assumptions.
//
// If another rule claims time of the main cause, the excess is part of it and at most all that rule claims. A rule that
// claims less than what is worth speaking of does not claim this: then the excess stands for itself.
#include "analyses/rows/step_variation.h"

#include <algorithm>
#include <map>

#include "analyses/rows/host_time.h"
#include "analyses/rows/launch_waits.h"
#include "analyses/rows/ranks.h"
#include "analyses/rows/serving_phases.h"
#include "analyses/rows/syncs.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/sync_places.h"
#include "fixes/names.h"

namespace gapless::internal::step_variation_rule {
namespace {

// Ours: outlier steps (3 × 1.4826 MAD and 10 % above the median) are worth a look when they cost a twentieth of the
// time; fewer complete steps than kVariationSteps have no meaningful median.
constexpr double kStepVariationShare = 0.05;
constexpr int kVariationSteps = 5;
// Ours: where more of the steps than this are outliers they are a rhythm (a loader's workers, accumulation), not
// outliers.
constexpr double kRhythmShare = 1.0 / 3;

constexpr std::string_view kNeeds[] = {"ledger", "step_variation", "host_time",     "launch_waits",
                                       "ranks",  "syncs",          "serving_phases"};

struct Variation {
  int64_t excess_ns = 0;  // in the ledger's device time
  int64_t outliers = 0, steps = 0;
  std::map<std::string_view, int64_t> parts;  // by name, the excess of outliers in which it differs most
  std::vector<size_t> rows;                   // outliers, longest first
};

Variation Read(const StepVariationRows& table, const LedgerView& ledger) {
  Variation all;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int64_t devices = ledger.DevicesOf(table.Int(row, "trace"));
    if (table.Int(row, "steps") < kVariationSteps || devices == 0) continue;
    if (table.IsNull(row, "step")) {
      all.excess_ns += table.Int(row, "excess_ns") * devices;
      all.outliers += table.Int(row, "outliers"), all.steps += table.Int(row, "steps");
    } else if (table.Int(row, "opening") == 0) {
      all.rows.push_back(row);
      if (!table.IsNull(row, "part")) all.parts[table.Text(row, "part")] += table.Int(row, "part_ns") * devices;
    }
  }
  std::stable_sort(all.rows.begin(), all.rows.end(),
                   [&](size_t a, size_t b) { return table.Int(a, "dur_ns") > table.Int(b, "dur_ns"); });
  return all;
}

struct Advice {
  std::string_view part, what, rule, text;
};
constexpr Advice kAdvice[] = {
    {"data", "waiting for data", "data_loading",
     "some batches take much longer to load: more workers and a deeper prefetch even them out"},
    {"launch", "waiting for launches", "launch_bound",
     "look at what the host does in these steps: compilation, garbage collection, logging"},
    {"host", "waiting for the host", "host_bound",
     "look at what the host does in these steps: evaluation, logging, checkpoints, garbage collection"},
    {"sync", "waiting in calls that block", "implicit_sync",
     "look for synchronisation that happens only in some steps: logging of the loss, gradient clipping, evaluation"},
    {"communication", "communication", "exposed_communication",
     "another rank is late in these steps: compare the same steps of all ranks"},
    {"copies", "copies", "", "look for transfers that happen only in some steps"},
    {"compute", "computing", "",
     "compare the inputs of these steps: longer sequences or larger batches take longer; if they are alike, clocks or "
     "another process on the GPU differ"},
    {"unknown", "idle time of unrecorded cause", "", "record these steps with stacks to see what the host does"},
};

const Advice* MainPart(const Variation& variation) {
  const auto most = std::max_element(variation.parts.begin(), variation.parts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == variation.parts.end()) return nullptr;
  for (const Advice& advice : kAdvice)
    if (advice.part == most->first) return &advice;
  return nullptr;
}

// Returns the least time that launch_bound claims: it leaves out captured graphs, and at most one call of each
// recording.
int64_t ClaimedByLaunches(const LaunchWaitsRows& waits) {
  int64_t claimed = 0;
  std::map<int64_t, int64_t> longest_call;  // by trace
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (waits.Text(row, "kind") != "capture") claimed += waits.Int(row, "idle_ns");
    int64_t& longest = longest_call[waits.Int(row, "trace")];
    longest = std::max(longest, waits.Int(row, "call_ns"));
  }
  for (const auto& [trace, longest] : longest_call) claimed -= longest;
  return claimed;
}

// Returns the time that the rule about this part claims.
int64_t ClaimedBy(Tables& tables, const LedgerView& ledger, std::string_view part) {
  const DeviceBreakdown& total = ledger.total;
  if (part == "data") return total.idle_data_ns;
  if (part == "launch") return ClaimedByLaunches(tables.Get<LaunchWaitsRows>());
  if (part == "sync") return CollectSyncPlaces(tables.Get<SyncsRows>(), ledger, Waits::kImplicit).idle_ns;
  if (part == "communication") return total.exposed_comm_ns - SumOf(tables.Get<RanksRows>(), "opening_waiting_ns");
  const auto host = tables.Get<HostTimeRows>();
  int64_t claimed = 0;
  for (size_t row = 0; part == "host" && row < host.rows(); ++row)
    if (host.Int(row, "while_launching") == 0) claimed += host.Int(row, "idle_ns");
  return claimed;
}

std::vector<Evidence> EvidenceOf(const StepVariationRows& table, const Variation& variation) {
  std::vector<Evidence> all;
  for (size_t i = 0; i < variation.rows.size() && i < 3; ++i) {
    const size_t row = variation.rows[i];
    const std::string who = table.IsNull(row, "rank") ? "" : StrCat(" of rank ", table.Int(row, "rank"));
    std::string text = StrCat("step ", table.Int(row, "step"), who, " takes ", FormatDuration(table.Int(row, "dur_ns")),
                              ", the median is ", FormatDuration(table.Int(row, "median_ns")));
    for (const Advice& advice : kAdvice)
      if (advice.part == table.Text(row, "part"))
        text += StrCat("; ", FormatDuration(table.Int(row, "part_ns")), " more of ", advice.what);
    all.push_back({.text = std::move(text),
                   .value = static_cast<double>(table.Int(row, "excess_ns")),
                   .unit = "ns",
                   .table = "step_variation"});
  }
  return all;
}

// Do the steps differ by what they have to do? An engine's iterations with prompts take longer than others.
bool ComputesPrompts(const ServingPhasesRows& iterations) {
  for (size_t row = 0; row < iterations.rows(); ++row)
    if (iterations.Int(row, "prefill_requests") > 0) return true;
  return false;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  if (ComputesPrompts(tables.Get<ServingPhasesRows>())) return std::vector<Bottleneck>{};
  const LedgerView& ledger = ReadLedger(tables);
  const auto table = tables.Get<StepVariationRows>();
  const Variation variation = Read(table, ledger);
  const bool rhythm = static_cast<double>(variation.outliers) > kRhythmShare * static_cast<double>(variation.steps);
  if (rhythm || ledger.Share(variation.excess_ns) < kStepVariationShare) return std::vector<Bottleneck>{};
  const Advice* main = MainPart(variation);
  const int64_t claimed = main != nullptr && !main->rule.empty() ? ClaimedBy(tables, ledger, main->part) : 0;
  const bool part = ledger.Share(claimed) >= kStepVariationShare;
  const int64_t stake = part ? std::min(variation.excess_ns, claimed) : variation.excess_ns;
  const double share = ledger.Share(stake);
  Bottleneck found;
  found.share_of_step = share;
  if (part) found.part_of = main->rule;
  found.title = StrCat("uneven steps cost ", ledger.CostText(stake));
  const bool capped = stake < variation.excess_ns;
  found.description =
      StrCat(FormatCount(variation.outliers), " of ", FormatCount(variation.steps),
             variation.outliers == 1 ? " complete steps takes" : " complete steps take",
             " much longer than the median; the time beyond the median",
             capped ? StrCat(" that goes into ", main->what) : "", " is ", FormatPercent(share), " of the time",
             main != nullptr && !capped ? StrCat(", most of it ", main->what) : "", ".");
  found.evidence = EvidenceOf(table, variation);
  found.recommendations.push_back(
      {main != nullptr ? std::string(main->text) : "record these steps with stacks to see what they do",
       main != nullptr && main->part == "data" ? fixes::kWorkers.Item() : "", "", "hours"});
  const auto excess = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = 0,
                             .expected_ns = excess * 0.5,
                             .high_ns = excess,
                             .confidence = 0.3});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(step_variation) = {
    .id = "step_variation",
    .type = BottleneckType::kStepVariation,
    .title = "Some steps take much longer than the others",
    .why =
        "Time beyond the median of outlier steps: complete steps that exceed the median by more than three robust "
        "standard deviations (3 × 1.4826 MAD) and a tenth. The first step of the recording does not count. Reported "
        "with 5 complete steps or more at 5 % of the analysed time or more, but not if more than a third of the steps "
        "are outliers, which is a regular pattern. If another rule claims the time of the main cause, the affected "
        "time is at most that rule's. Names the part of the time breakdown that differs most from that of the median "
        "step. Not of a serving engine that computes prompts: its iterations differ by what they have to do.",
    .saves = "0, ½, all of it. Part of the rule for its main part, where that claims 5 % or more",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::step_variation_rule
