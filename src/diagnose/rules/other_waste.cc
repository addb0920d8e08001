// SPDX-License-Identifier: Apache-2.0
// The largest waste in the time breakdown, if no rule with a remedy of its own reports it.
//
// A report that calls a run "copy bound" or "sync bound" and then finds nothing leaves its reader alone with a
// contradiction. Every other rule knows one cause and its remedy; this one says where the time went, which events show
// it, and what to look at. It promises no gain, because it does not know a remedy. Diagnose drops it where another
// finding is about the same kind of time.
#include <algorithm>
#include <array>
#include <optional>

#include "analyses/rows/communication.h"
#include "analyses/rows/copies.h"
#include "analyses/rows/idle.h"
#include "analyses/rows/ranks.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/run_traits.h"

namespace gapless::internal::other_waste_rule {
namespace {

// TraceLens flags copies and communication above 5 % of the time; the largest waste that no other finding is about is
// held to the same.
constexpr double kOtherWasteShare = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "idle", "copies", "communication", "ranks"};

using Gap = IdleRows::IntColumn;

struct Waste {
  BottleneckType type;
  int64_t DeviceBreakdown::*part;
  std::optional<Gap> gap_column;      // nullopt: the waste is not idle time
  std::string_view title, title_end;  // the cost stands between them
  std::string_view what;              // completes "For 12 % of the time …"
  std::string_view advice;
};

constexpr std::array<Waste, 7> kWastes = {{
    {BottleneckType::kDataLoading, &DeviceBreakdown::idle_data_ns, Gap("data_ns"), "the GPU waits ",
     " for its next batch", "the GPU waits for the host to load data",
     "load the next batch while the GPU works on this one"},
    {BottleneckType::kLaunchBound, &DeviceBreakdown::idle_launch_ns, Gap("launch_ns"), "the GPU waits ",
     " for launches", "the GPU waits for the host to launch its next work",
     "launch less: larger batches, fused kernels, a captured graph"},
    {BottleneckType::kCpuGpuSync, &DeviceBreakdown::idle_sync_ns, Gap("sync_ns"), "the GPU waits ",
     " while the host is in calls that block",
     "the GPU has no work while the host waits in a call that blocks: a synchronisation, a copy or an allocation",
     "find what the host waits for, and launch the next work before the host waits"},
    {BottleneckType::kHostBound, &DeviceBreakdown::idle_host_ns, Gap("host_ns"), "the GPU waits ",
     " while the host runs other code", "the GPU waits while the host runs code that launches nothing",
     "record call stacks to see which code runs, then run it in another thread or less often"},
    {BottleneckType::kMultiGpuComm, &DeviceBreakdown::exposed_comm_ns, std::nullopt,
     "communication that nothing hides takes ", "", "the GPU communicates and computes nothing",
     "overlap communication with computation, or send less"},
    {BottleneckType::kIo, &DeviceBreakdown::exposed_copy_ns, std::nullopt, "copies that nothing hides take ", "",
     "the GPU only copies",
     "keep data on the GPU instead of copying it back and forth; make the copies that remain on a stream of their own "
     "while kernels run"},
    {BottleneckType::kRecording, &DeviceBreakdown::idle_unknown_ns, Gap("unknown_ns"), "the GPU idles ",
     ", and the recording does not show why", "the GPU idles for a reason that was not recorded",
     "record the host as well, with call stacks"},
}};

// Says where a kind of copies goes: "h2d_pageable" → "host to GPU, pageable memory".
std::string KindText(std::string_view kind) {
  const size_t end = kind.find('_');
  const std::string_view way = kind.substr(0, end);
  const std::string_view text = way == "h2d"   ? "host to GPU"
                                : way == "d2h" ? "GPU to host"
                                : way == "d2d" ? "within the GPU"
                                : way == "p2p" ? "GPU to GPU"
                                               : "";
  if (text.empty()) return std::string(kind);
  return end == kind.npos ? std::string(text) : StrCat(text, ", ", kind.substr(end + 1), " memory");
}

std::vector<Evidence> CopyEvidence(const CopiesRows& copies) {
  std::vector<Evidence> all;
  for (const size_t row : LargestRows(copies, "exposed_ns", 3)) {
    const std::string rate =
        copies.IsNull(row, "mean_gbps") ? "" : StrCat(" at ", FormatNumber(copies.Real(row, "mean_gbps"), 1), " GB/s");
    const std::string bytes = copies.IsNull(row, "bytes") ? "" : StrCat(", ", FormatBytes(copies.Int(row, "bytes")));
    all.push_back({.text = StrCat(KindText(copies.Text(row, "kind")), ": ",
                                  FormatCounted(copies.Int(row, "calls"), "copy", "copies"), bytes, rate,
                                  "; nothing else runs on the GPU for ", FormatDuration(copies.Int(row, "exposed_ns"))),
                   .value = static_cast<double>(copies.Int(row, "exposed_ns")),
                   .unit = "ns",
                   .table = "copies"});
  }
  return all;
}

std::vector<Evidence> CommunicationEvidence(const CommunicationRows& communication) {
  std::vector<Evidence> all;
  for (const size_t row : LargestRows(communication, "exposed_ns", 3)) {
    if (communication.IsNull(row, "kind")) continue;
    all.push_back(
        {.text = StrCat(communication.Text(row, "kind"), ": ", FormatCounted(communication.Int(row, "calls"), "call"),
                        ", ", FormatDuration(communication.Int(row, "exposed_ns")), " not hidden"),
         .value = static_cast<double>(communication.Int(row, "exposed_ns")),
         .unit = "ns",
         .table = "communication"});
  }
  return all;
}

// Names the calls and code during the longest gaps of this cause.
std::vector<Evidence> GapEvidence(const IdleRows& idle, const Waste& waste) {
  std::vector<Evidence> all{LargestGaps(idle, *waste.gap_column, "gap of this kind")};
  if (waste.type == BottleneckType::kRecording) return all;  // what the host did then is not the cause
  for (const size_t row : LargestRows(idle, *waste.gap_column, 3)) {
    const std::string line = TextOr(idle, row, "source_line", "");
    const std::string where = TextOr(idle, row, "operator", TextOr(idle, row, "annotation", ""));
    if (where.empty() && line.empty()) continue;
    all.push_back({.text = StrCat(FormatDuration(idle.Int(row, *waste.gap_column)), " while the host is in ",
                                  where.empty() ? "Python code" : where, InLine(line)),
                   .value = static_cast<double>(idle.Int(row, *waste.gap_column)),
                   .unit = "ns",
                   .table = "idle",
                   .rows = IdsOf(idle, {row}, "id"),
                   .source = line});
  }
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto of = [&](const Waste& waste) {
    const bool comm = waste.part == &DeviceBreakdown::exposed_comm_ns;
    return ledger.total.*waste.part - (comm ? SumOf(tables.Get<RanksRows>(), "opening_waiting_ns") : 0);
  };
  const Waste& most =
      *std::max_element(kWastes.begin(), kWastes.end(), [&](const Waste& a, const Waste& b) { return of(a) < of(b); });
  const double share = ledger.Share(of(most));
  if (share < kOtherWasteShare) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.type = most.type;
  found.share_of_step = share;
  found.title = StrCat(most.title, ledger.CostText(of(most)), most.title_end);
  found.description =
      StrCat("For ", FormatPercent(share), " of the time ", most.what, ledger.WorstText(most.part), ".");
  found.evidence = most.type == BottleneckType::kIo             ? CopyEvidence(tables.Get<CopiesRows>())
                   : most.type == BottleneckType::kMultiGpuComm ? CommunicationEvidence(tables.Get<CommunicationRows>())
                                                                : GapEvidence(LongestIdle(tables), most);
  const bool records = most.type == BottleneckType::kRecording || most.type == BottleneckType::kHostBound;
  found.recommendations.push_back(
      {std::string(most.advice), "", records ? RecordStacksCode(tables.run()) : "", "hours"});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(other_waste) = {
    .id = "other_waste",
    .type = BottleneckType::kHostBound,
    .title = "Time of the GPU that no other rule explains",
    .why =
        "The largest part of the time breakdown that is not computing: idle time by cause, exposed communication "
        "(without the "
        "waiting in which recorders start), exposed copies. Reported at 5 % of the analysed time or more, TraceLens' "
        "line "
        "for copies and communication, if no other finding is about the same kind of time. Has no gain.",
    .needs = kNeeds,
    .check = Check,
    .types_differ = true};

}  // namespace gapless::internal::other_waste_rule
