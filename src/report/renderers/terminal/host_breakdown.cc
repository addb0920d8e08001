// SPDX-License-Identifier: Apache-2.0
// Prints where a step of a training without a device goes, as the breakdown does for devices.
//
//   where a step goes: 15.4 ms on average, without a GPU
//     █ operators     62.0 %   9.55 ms   optimiser 2.10 ms
//     ▓ collectives    8.1 %   1.25 ms   no operator runs meanwhile
//     ░ between       29.9 %   4.60 ms   data 3.10 ms · Python 1.50 ms
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr double kLeastHostShare = 0.0005;  // share of the wall time
constexpr int kRemarksColumn = 37;          // as in the breakdown of devices

using NamedTime = std::pair<int64_t, std::string_view>;

struct HostTotal : HostBreakdown {
  explicit HostTotal(const std::vector<HostBreakdown>& all) {
    for (const HostBreakdown& one : all) {
      steps += one.steps, wall_ns += one.wall_ns;
      operator_ns += one.operator_ns, optimizer_ns += one.optimizer_ns, collective_ns += one.collective_ns;
      data_ns += one.data_ns, python_ns += one.python_ns, save_ns += one.save_ns;
      gc_ns += one.gc_ns, compile_ns += one.compile_ns;
    }
    pieces = std::max<int64_t>(1, steps > 0 ? steps : std::ssize(all));
  }
  double Share(int64_t ns) const { return static_cast<double>(ns) / static_cast<double>(wall_ns); }
  std::string Piece(int64_t ns) const { return FormatDuration(ns / pieces); }

  int64_t pieces = 1;  // steps of all processes, or the processes
};

std::vector<std::string> RemarksOf(const HostTotal& total, std::vector<NamedTime> parts) {
  std::ranges::stable_sort(parts, std::greater<>(), &NamedTime::first);
  std::vector<std::string> remarks;
  for (const auto& [ns, name] : parts)
    if (total.Share(ns) >= kLeastHostShare) remarks.push_back(StrCat(name, " ", total.Piece(ns)));
  return remarks;
}

struct HostLine {
  Tone tone;
  std::string_view name;
  int64_t ns;
  std::vector<std::string> remarks;
};

std::vector<HostLine> LinesOf(const HostTotal& total) {
  const int64_t operators = total.operator_ns + total.optimizer_ns;
  return {{Tone::kCompute, "operators", operators, RemarksOf(total, {{total.optimizer_ns, "optimiser"}})},
          {Tone::kCommunication, "collectives", total.collective_ns, {"no operator runs meanwhile"}},
          {Tone::kIdle, "between", total.wall_ns - operators - total.collective_ns,
           RemarksOf(total, {{total.data_ns, "data"},
                             {total.python_ns, "Python"},
                             {total.save_ns, "checkpoints"},
                             {total.gc_ns, "garbage collection"},
                             {total.compile_ns, "compiling"}})}};
}

}  // namespace

std::string HostBreakdownSection(const Report& report, const Paint& paint) {
  const std::vector<HostBreakdown>& all = report.summary.host_breakdown;
  const HostTotal total(all);
  if (total.wall_ns == 0) return {};
  std::string out = paint.In(
      Tone::kBold, StrCat(total.steps > 0 ? "where a step goes: " : "where the time goes: ", total.Piece(total.wall_ns),
                          total.steps > 0 ? " on average" : "",
                          all.size() > 1 ? StrCat(", ", all.size(), " processes") : "", ", without a GPU"));
  std::vector<BarPart> bar;
  const std::vector<HostLine> lines = LinesOf(total);
  for (const HostLine& line : lines) bar.push_back({line.tone, total.Share(line.ns)});
  out += StrCat("\n  ", StackedBar(paint, bar, paint.width() - 2), "\n");
  for (const HostLine& line : lines) {
    if (line.tone == Tone::kCommunication && total.Share(line.ns) < kLeastHostShare) continue;
    const std::string numbers = PadLeft(FormatPercent(total.Share(line.ns)), 7) + PadLeft(total.Piece(line.ns), 10);
    out += StrCat("  ", paint.In(line.tone, GlyphOf(line.tone)), " ", PadRight(line.name, 13), numbers);
    std::string lead = "   ";
    for (const std::string& remarks : WrapItems(line.remarks, paint.width() - kRemarksColumn)) {
      out += StrCat(lead, paint.In(line.tone == Tone::kIdle ? Tone::kPlain : Tone::kDim, remarks));
      lead = "\n" + std::string(kRemarksColumn, ' ');
    }
    out += "\n";
  }
  return out;
}

}  // namespace gapless::internal
