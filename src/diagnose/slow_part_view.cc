// SPDX-License-Identifier: Apache-2.0
// Names parts of a job and says how far they are behind.
#include "diagnose/slow_part_view.h"

#include <algorithm>

#include "base/strings.h"
#include "trace/process_groups.h"

namespace gapless::internal {
namespace {

constexpr SlowReason kSlowReasons[] = {
    {"gpu", "the same kernels, run more slowly",
     "check this GPU's clocks, temperature, power limit and other processes: nvidia-smi -q -d PERFORMANCE,CLOCK,POWER"},
    {"work", "more to do in its kernels",
     "give all ranks the same work: equal batches, sequences of like length, tokens spread evenly over experts"},
    {"kernels", "its kernels; whether they do more or run more slowly was not recorded",
     "compare batch sizes and sequence lengths of the ranks, then this GPU's clocks: nvidia-smi -q -d "
     "PERFORMANCE,CLOCK"},
    {"host", "waiting for its host, which issues work late",
     "check this host: other processes on its cores, cores pinned per rank, its clock governor; then what only these "
     "ranks do"},
    {"pauses", "pauses of its host in some steps",
     "find out what stops this process now and then: garbage collection, logging, checkpoints, another process"},
    {"garbage", "Python's garbage collection", "collect garbage at the same step on all ranks, and rarely"},
    {"loader", "waiting for its data loader",
     "check this rank's loader, its shard of the data set, its disk and cores"},
    {"copies", "copies",
     "check these ranks' transfers and their place on the PCIe and NUMA topology: nvidia-smi topo -m"},
};

}  // namespace

std::string NameOfPart(const SlowPartsRows& parts, size_t row) {
  const std::string_view part = parts.Text(row, "part"), host = parts.Text(row, "host");
  const std::string ranks = StrCat(part == "rank" ? "rank " : "ranks ", parts.Text(row, "ranks"));
  if (part == "host") return StrCat("host ", Printable(host), " (", ranks, ")");
  if (part == "hosts") return StrCat("hosts ", Ellipsize(Printable(host), 80), " (", ranks, ")");
  if (part == "group")
    return StrCat("process group ", Ellipsize(Printable(parts.Text(row, "group")), 40), " (", ranks, ")");
  return part == "rank" && !host.empty() ? StrCat(ranks, " on ", Printable(host)) : ranks;
}

std::vector<int64_t> RanksOfPart(const SlowPartsRows& parts, size_t row) {
  return RanksInText(parts.Text(row, "ranks"));
}

const SlowReason* ReasonOfPart(const SlowPartsRows& parts, size_t row) {
  for (const SlowReason& reason : kSlowReasons)
    if (reason.kind == parts.Text(row, "kind")) return &reason;
  return nullptr;
}

Evidence EvidenceOfPart(const SlowPartsRows& parts, size_t row) {
  const SlowReason* reason = ReasonOfPart(parts, row);
  const std::string what(parts.Text(row, "what"));
  const double ratio = parts.Real(row, "ratio");
  const std::string times = ratio > 1.005 ? StrCat(" (", FormatNumber(ratio, 2), " times)") : "";
  const double q = parts.Real(row, "q_value");
  const std::string sure = q == 0 ? "; the collections are in the recording"
                                  : StrCat("; of the parts that are named at this strictness ",
                                           q < 0.001 ? "less than " : "at most ", FormatPercent(std::max(0.001, q)),
                                           " are so by chance (", FormatCount(parts.Int(row, "tests")), " tests)");
  const std::string counted = StrCat(FormatCount(parts.Int(row, "late")), " of ", FormatCount(parts.Int(row, "tried")));
  return {.text = reason != nullptr
                      ? StrCat(NameOfPart(parts, row), ": ", FormatDuration(parts.Int(row, "excess_ns")),
                               " a step longer than the median of those that do the same", times, ", in ", counted,
                               " steps: ", reason->what, what.empty() ? "" : StrCat(", most in ", Ellipsize(what, 80)),
                               sure)
                      : StrCat(NameOfPart(parts, row), ": ", counted, " transfers took longer than usual, together ",
                               FormatDuration(parts.Int(row, "excess_ns")), " a step", times,
                               what.empty() ? "" : StrCat(", most in ", what), sure),
          .value = static_cast<double>(parts.Int(row, "excess_ns")),
          .unit = "ns",
          .table = "slow_parts"};
}

std::optional<size_t> LatestPart(const SlowPartsRows& parts) {
  for (size_t row = 0; row < parts.rows(); ++row)
    if (ReasonOfPart(parts, row) != nullptr) return row;
  return std::nullopt;
}

}  // namespace gapless::internal
