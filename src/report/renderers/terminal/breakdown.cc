// SPDX-License-Identifier: Apache-2.0
// Prints the time breakdown of the mean step as a bar with remarks, and one line for each rank.
//
// Shares are of the analysed time of all devices; durations are those shares of one mean step (PieceNs), so that a user
// can compare them with the step time. The four kinds add up to 100 %, the causes of idle time to the idle row.
//
//   where a step goes: 177.6 ms on average                         input bound (I/O)
//     █ compute       55.5 %   98.6 ms   matrix work 67 % of kernel time
//     ▒ copy           1.1 %   2.00 ms   100 % of host copies pageable
//     ░ idle          43.4 %   77.0 ms   data 58.7 ms · launch 15.7 ms
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyses/rows/ledger.h"
#include "analyses/rows/ranks.h"
#include "base/order_statistics.h"
#include "base/strings.h"
#include "diagnose/thresholds.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxRanks = 8;
constexpr int kRankColumns = 30;         // name and bar
constexpr double kWorthSaying = 0.0005;  // share of the wall time

double ShareOf(int64_t part, int64_t wall) {
  return wall == 0 ? 0 : static_cast<double>(part) / static_cast<double>(wall);
}

// Returns the four kinds in the order of docs/definitions.md's time breakdown.
std::vector<BarPart> BarOf(const DeviceBreakdown& device) {
  return {{Tone::kCompute, ShareOf(device.compute_ns, device.wall_ns)},
          {Tone::kCommunication, ShareOf(device.exposed_comm_ns, device.wall_ns)},
          {Tone::kCopy, ShareOf(device.exposed_copy_ns, device.wall_ns)},
          {Tone::kIdle, ShareOf(device.idle_ns, device.wall_ns)}};
}

// A line of the breakdown: its colour, name, time and remarks.
struct BreakdownLine {
  Tone tone;
  std::string_view name;
  int64_t part_ns;
  std::vector<std::string> remarks;
};

// Returns the length of the mean step; without steps, the analysed time of the mean device. The ledger has one row per
// step and device, and one, without a step, per device for the time between steps.
int64_t PieceNs(const Report& report) {
  const auto ledger = report.tables.Get<LedgerRows>();
  int64_t steps = 0;
  for (size_t row = 0; row < ledger.rows(); ++row) steps += ledger.IsNull(row, "step") ? 0 : 1;
  const auto devices = static_cast<int64_t>(report.summary.breakdown.size());
  return report.summary.total.wall_ns / std::max<int64_t>(1, steps > 0 ? steps : devices);
}

std::string PieceOf(double share, int64_t piece_ns) {
  return FormatDuration(std::llround(share * static_cast<double>(piece_ns)));
}

// Returns the causes of idle time, the largest first, without those that would be shown as zero.
std::vector<std::string> IdleRemarks(const DeviceBreakdown& total, int64_t piece_ns) {
  std::vector<std::pair<int64_t, std::string_view>> causes = {{total.idle_data_ns, "data"},
                                                              {total.idle_launch_ns, "launch"},
                                                              {total.idle_sync_ns, "sync"},
                                                              {total.idle_host_ns, "host"},
                                                              {total.idle_unknown_ns, "unknown"}};
  std::ranges::stable_sort(causes, std::greater<>(), &std::pair<int64_t, std::string_view>::first);
  std::vector<std::string> remarks;
  for (const auto& [part, name] : causes) {
    const double share = ShareOf(part, total.wall_ns);
    if (share >= kWorthSaying) remarks.push_back(StrCat(name, " ", PieceOf(share, piece_ns)));
  }
  return remarks;
}

// "68 %", where a digit after the point would say nothing.
std::string RoundPercent(double share) {
  return share == 0 || share >= 0.095 ? FormatNumber(share * 100, 0) + " %" : FormatPercent(share);
}

std::vector<BreakdownLine> RowsOf(const Report& report) {
  const RunSummary& summary = report.summary;
  const DeviceBreakdown& total = summary.total;
  std::vector<std::string> compute, copy;
  if (summary.matrix_time_share && *summary.matrix_time_share > 0) {
    compute.push_back(StrCat("matrix work ", RoundPercent(*summary.matrix_time_share), " of kernel time"));
    if (summary.matrix_unit_share)
      compute.push_back(StrCat(RoundPercent(*summary.matrix_unit_share), " of it on matrix units"));
  }
  if (summary.pageable_share && *summary.pageable_share > 0) {
    copy.push_back(StrCat(RoundPercent(*summary.pageable_share), " of host copies pageable"));
  }
  return {{Tone::kCompute, "compute", total.compute_ns, compute},
          {Tone::kCommunication, "communication", total.exposed_comm_ns, {"not hidden by compute"}},
          {Tone::kCopy, "copy", total.exposed_copy_ns, copy},
          {Tone::kIdle, summary.gpu_busy_is_least ? "idle or lost" : "idle", total.idle_ns,
           IdleRemarks(total, PieceNs(report))}};
}

// "█ compute         56.2 %    99.1 ms   remarks", the remarks wrapped under themselves.
std::string LineOf(const BreakdownLine& row, const Report& report, const Paint& paint) {
  const double share = ShareOf(row.part_ns, report.summary.total.wall_ns);
  const std::string numbers = PadLeft(FormatPercent(share), 7) + PadLeft(PieceOf(share, PieceNs(report)), 10);
  const std::string name = PadRight(row.name, 13);
  std::string line = StrCat("  ", paint.In(row.tone, GlyphOf(row.tone)), " ", name, numbers, "   ");
  const int column = 4 + DisplayWidth(name) + DisplayWidth(numbers) + 3;
  const std::vector<std::string> remarks = WrapItems(row.remarks, paint.width() - column);
  for (size_t i = 0; i < remarks.size(); ++i) {
    if (i > 0) line += "\n" + std::string(static_cast<size_t>(column), ' ');
    line += paint.In(row.tone == Tone::kIdle ? Tone::kPlain : Tone::kDim, remarks[i]);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

double IdleShare(const DeviceBreakdown* device) { return ShareOf(device->idle_ns, device->wall_ns); }

// Returns the device that the others wait for more than for all others together, from table ranks; null if no device
// is.
const DeviceBreakdown* StragglerOf(const RanksRows& ranks, const std::vector<const DeviceBreakdown*>& devices) {
  int64_t all_ns = 0;
  size_t slowest = 0;
  for (size_t row = 0; row < ranks.rows(); ++row) {
    all_ns += ranks.Int(row, "caused_wait_ns");
    if (ranks.Int(row, "caused_wait_ns") > ranks.Int(slowest, "caused_wait_ns")) slowest = row;
  }
  if (all_ns == 0 || ShareOf(ranks.Int(slowest, "caused_wait_ns"), all_ns) < kOneStragglerShare) return nullptr;
  const auto found = std::ranges::find_if(devices, [&](const DeviceBreakdown* device) {
    return device->trace == ranks.Int(slowest, "trace") && device->device == ranks.Int(slowest, "device");
  });
  return found == devices.end() ? nullptr : *found;
}

std::string RankName(const DeviceBreakdown& device, bool several_devices) {
  std::string name = device.rank ? StrCat("rank ", *device.rank) : StrCat("trace ", device.trace);
  if (several_devices) name += StrCat(" GPU ", device.device);
  return name;
}

// Keeps kMaxRanks devices: `named`, which are marked in the list, and those whose idle share differs most from the
// median. The order becomes that of the difference.
void KeepMostDifferent(const std::array<const DeviceBreakdown*, 2>& named,
                       std::vector<const DeviceBreakdown*>& devices) {
  std::vector<double> shares;
  for (const DeviceBreakdown* device : devices) shares.push_back(IdleShare(device));
  const double median = UpperMedian(shares);
  std::ranges::stable_sort(devices, std::greater<>(), [&](const DeviceBreakdown* device) {
    return std::pair(std::ranges::find(named, device) != named.end(), std::abs(IdleShare(device) - median));
  });
  devices.resize(kMaxRanks);
}

}  // namespace

std::string BreakdownSection(const Report& report, const Paint& paint) {
  const RunSummary& summary = report.summary;
  if (summary.total.wall_ns == 0) return {};
  std::string title = summary.steps > 0 ? "where a step goes" : "where the time goes";
  title += StrCat(": ", FormatDuration(PieceNs(report)), summary.steps > 0 ? " on average" : "");
  if (summary.breakdown.size() > 1) title += StrCat(", ", summary.breakdown.size(), " GPUs");
  std::string verdict = VerdictText(summary);
  if (summary.limit == "I/O" || summary.limit == "CPU") verdict += StrCat(" (", summary.limit, ")");
  // The verdict ends at the right edge, at least two spaces after the title.
  const int gap = paint.width() - DisplayWidth(title) - DisplayWidth(verdict);
  std::string out = paint.In(Tone::kBold, title) + std::string(static_cast<size_t>(std::max(2, gap)), ' ') +
                    paint.In(Tone::kBold, verdict) + "\n";
  out += "  " + StackedBar(paint, BarOf(summary.total), paint.width() - 2) + "\n";
  for (const BreakdownLine& row : RowsOf(report)) {
    const bool always = row.tone == Tone::kCompute || row.tone == Tone::kIdle;
    if (always || ShareOf(row.part_ns, summary.total.wall_ns) >= kWorthSaying) out += LineOf(row, report, paint);
  }
  for (const std::string& line : WrapCut(Printable(summary.class_evidence), paint.width() - 2)) {
    out += "  " + paint.In(Tone::kDim, line) + "\n";
  }
  return out;
}

// A trace with several devices needs the device in each name.
std::string RanksSection(const Report& report, const Paint& paint) {
  std::vector<const DeviceBreakdown*> devices;
  bool several_devices = false;
  for (const DeviceBreakdown& device : report.summary.breakdown) {
    several_devices = several_devices || (!devices.empty() && devices.back()->trace == device.trace);
    devices.push_back(&device);
  }
  if (devices.size() < 2) return {};
  const DeviceBreakdown* most_idle = *std::ranges::max_element(devices, {}, IdleShare);
  const DeviceBreakdown* straggler = StragglerOf(report.tables.Get<RanksRows>(), devices);
  const size_t all = devices.size();
  if (!paint.verbose() && all > kMaxRanks) {
    KeepMostDifferent({straggler, most_idle}, devices);
  }
  std::string out = paint.In(Tone::kBold, PadRight("ranks", kRankColumns)) + PadLeft("compute", 9) +
                    PadLeft("comm", 9) + PadLeft("copy", 9) + PadLeft("idle", 9) + "\n";
  for (const DeviceBreakdown* device : devices) {
    const std::string name = PadRight(Ellipsize(RankName(*device, several_devices), 14), 14);
    out += StrCat("  ", name, StackedBar(paint, BarOf(*device), kRankColumns - 16));
    for (const BarPart& part : BarOf(*device)) out += PadLeft(FormatPercent(part.share), 9);
    if (device == straggler || device == most_idle) {
      out += " " + paint.In(Tone::kIdle, device == straggler ? "◀ straggler" : "◀ most idle");
    }
    out += "\n";
  }
  if (devices.size() < all)
    out += StrCat("  ", all - devices.size(), " of ", all, " differ less and are not shown (-v shows all)\n");
  if (straggler != nullptr) {
    out += "  " + paint.In(Tone::kDim, "most of the waiting in communication is for the straggler") + "\n";
  }
  return out;
}

}  // namespace gapless::internal
