// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless {
namespace {

constexpr size_t kMostRanks = 8;
constexpr double kWorthSaying = 0.0005;  // of the wall time

double ShareOf(int64_t part, int64_t wall) { return wall == 0 ? 0 : static_cast<double>(part) / static_cast<double>(wall); }

std::vector<BarPart> BarOf(const DeviceBreakdown& device) {
  return {{Tone::kCompute, ShareOf(device.compute_ns, device.wall_ns)},
          {Tone::kCommunication, ShareOf(device.exposed_comm_ns, device.wall_ns)},
          {Tone::kCopy, ShareOf(device.exposed_copy_ns, device.wall_ns)},
          {Tone::kIdle, ShareOf(device.idle_ns, device.wall_ns)}};
}

struct Row {
  Tone tone;
  std::string_view name;
  int64_t part_ns;
  std::vector<std::string> remarks;
};

// How much of the summed wall time one step (or, without steps, one device) stands for.
int64_t PieceNs(const Report& report) {
  const RunSummary& summary = report.summary;
  if (summary.steps > 0 && summary.step_ns) return summary.step_ns->median;
  return summary.breakdown.empty() ? 0 : summary.total.wall_ns / static_cast<int64_t>(summary.breakdown.size());
}

std::string PieceOf(double share, int64_t piece_ns) {
  return FormatDuration(static_cast<int64_t>(share * static_cast<double>(piece_ns) + 0.5));
}

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

std::vector<Row> RowsOf(const Report& report) {
  const RunSummary& summary = report.summary;
  const DeviceBreakdown& total = summary.total;
  std::vector<std::string> compute, copy;
  if (summary.matrix_time_share && *summary.matrix_time_share > 0) {
    compute.push_back(StrCat("matrix work ", FormatPercent(*summary.matrix_time_share), " of kernel time"));
    if (summary.matrix_unit_share) compute.push_back(StrCat(FormatPercent(*summary.matrix_unit_share), " of it on tensor cores"));
  }
  if (summary.pageable_share && *summary.pageable_share > 0) {
    copy.push_back(StrCat(FormatPercent(*summary.pageable_share), " of host copies pageable"));
  }
  return {{Tone::kCompute, "compute", total.compute_ns, compute},
          {Tone::kCommunication, "communication", total.exposed_comm_ns, {"not hidden by compute"}},
          {Tone::kCopy, "copy", total.exposed_copy_ns, copy},
          {Tone::kIdle, "idle", total.idle_ns, IdleRemarks(total, PieceNs(report))}};
}

// "█ compute         56.2 %    99.1 ms   remarks", the remarks wrapped under themselves.
std::string LineOf(const Row& row, const Report& report, const Paint& paint) {
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

std::string RankName(const DeviceBreakdown& device, bool several_devices) {
  std::string name = device.rank == kAbsent ? StrCat("trace ", device.trace) : StrCat("rank ", device.rank);
  if (several_devices) name += StrCat(" GPU ", device.device);
  return name;
}

}  // namespace

std::string BreakdownSection(const Report& report, const Paint& paint) {
  const RunSummary& summary = report.summary;
  if (summary.total.wall_ns == 0) return {};
  std::string title = summary.steps > 0 ? "where a step goes" : StrCat("where the time goes, ", FormatDuration(PieceNs(report)));
  if (summary.breakdown.size() > 1) title += StrCat(" (mean of ", summary.breakdown.size(), " GPUs)");
  const std::string verdict = summary.run_class;
  const int gap = paint.width() - DisplayWidth(title) - DisplayWidth(verdict);
  std::string out = paint.In(Tone::kBold, title) + std::string(static_cast<size_t>(std::max(2, gap)), ' ') +
                    paint.In(Tone::kBold, verdict) + "\n";
  out += "  " + StackedBar(paint, BarOf(summary.total), paint.width() - 2) + "\n";
  for (const Row& row : RowsOf(report)) {
    const bool always = row.tone == Tone::kCompute || row.tone == Tone::kIdle;
    if (always || ShareOf(row.part_ns, summary.total.wall_ns) >= kWorthSaying) out += LineOf(row, report, paint);
  }
  for (const std::string& line : WrapWords(Printable(summary.class_evidence), paint.width() - 2)) {
    out += "  " + paint.In(Tone::kDim, line) + "\n";
  }
  return out;
}

std::string RanksSection(const Report& report, const Paint& paint) {
  std::vector<const DeviceBreakdown*> devices;
  bool several_devices = false;
  for (const DeviceBreakdown& device : report.summary.breakdown) {
    several_devices = several_devices || (!devices.empty() && devices.back()->trace == device.trace);
    devices.push_back(&device);
  }
  if (devices.size() < 2) return {};
  const auto idle = [](const DeviceBreakdown* device) { return ShareOf(device->idle_ns, device->wall_ns); };
  const DeviceBreakdown* worst = *std::ranges::max_element(devices, {}, idle);
  const size_t all = devices.size();
  if (!paint.verbose() && all > kMostRanks) {
    std::ranges::stable_sort(devices, std::greater<>(), idle);
    devices.resize(kMostRanks);
  }
  std::string out = paint.In(Tone::kBold, PadRight("ranks", 30)) + PadLeft("compute", 9) + PadLeft("comm", 9) +
                    PadLeft("copy", 9) + PadLeft("idle", 9) + "\n";
  for (const DeviceBreakdown* device : devices) {
    const std::string name = PadRight(Ellipsize(RankName(*device, several_devices), 14), 14);
    out += StrCat("  ", name, StackedBar(paint, BarOf(*device), 14));
    for (const BarPart& part : BarOf(*device)) out += PadLeft(FormatPercent(part.share), 9);
    if (device == worst) out += " " + paint.In(Tone::kIdle, "◀ most idle");
    out += "\n";
  }
  if (devices.size() < all) out += StrCat("  the ", devices.size(), " most idle of ", all, " (-v shows all)\n");
  return out;
}

}  // namespace gapless
