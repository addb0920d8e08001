// SPDX-License-Identifier: Apache-2.0
// The program loops over the elements of tensors, and the device waits for each. The affected time is the device's idle
// time while such a loop runs (analysis python_loops). The gain: one operator on the whole tensor launches once for all
// repetitions, so of r repetitions (r−1)/r of the idle time can go (high). The arithmetic may not allow it all: we
// expect six tenths and at least a quarter, as for launches in general. The same time is part of implicit_sync where
// each repetition reads a value, else of launch_bound.
#include <algorithm>

#include "analyses/rows/python_loops.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/row_groups.h"
#include "diagnose/rule.h"
#include "fixes/names.h"

namespace gapless::internal::python_loop_rule {
namespace {

// As for the launches a Python loop is part of, halved: it names one place.
constexpr double kPythonLoopShare = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "python_loops"};
constexpr PythonLoopsRows::TextColumn kKey[] = {"pattern", "source_line", "annotation"};

int64_t IdleOf(const PythonLoopsRows& loops, size_t row, const LedgerView& ledger) {
  return loops.Int(row, "idle_ns") * ledger.DevicesOf(loops.Int(row, "trace"));
}

std::string Place(const PythonLoopsRows& loops, size_t row) {
  const std::string line = TextOr(loops, row, "source_line", "");
  if (!line.empty()) return InLine(line);
  const std::string annotation = TextOr(loops, row, "annotation", "");
  return annotation.empty() ? "" : StrCat(" in ", annotation);
}

Evidence EvidenceOf(const PythonLoopsRows& loops, const RowGroup& place, const LedgerView& ledger) {
  const size_t row = place.first();
  return {.text = StrCat(Ellipsize(loops.Text(row, "pattern"), 80), Place(loops, row), ": up to ",
                         FormatCounted(loops.Int(row, "repeats"), "repetition"), " in a row, ",
                         HowOften(loops, place, "loops_per_step", "loops"), ", ",
                         FormatCounted(SumOver(loops, place, "gpu_ops"), "GPU operation"), "; the GPU idles for ",
                         ledger.CostText(place.value)),
          .value = static_cast<double>(place.value),
          .unit = "ns",
          .table = "slice",
          .rows = IdsOf(loops, place.rows, "slice_id"),
          .source = TextOr(loops, row, "source_line", "")};
}

// Each repetition waits for the device.
bool ReadsValues(std::string_view pattern) {
  return pattern.find("item") != pattern.npos || pattern.find("_local_scalar_dense") != pattern.npos;
}

// Returns the advice for the repeated operators.
Recommendation AdviceFor(const PythonLoopsRows& loops, size_t row) {
  const std::string_view pattern = loops.Text(row, "pattern");
  const auto has = [&](std::string_view name) { return pattern.find(name) != pattern.npos; };
  const std::string place = Place(loops, row);
  if (ReadsValues(pattern))
    return {StrCat("read the values at once, not one by one", place), fixes::kHost.Item("0.5"),
            "values = tensor.tolist()", "minutes"};
  if (!has("select") && (has("mul_") || has("add_")))
    return {StrCat("work on the whole list of tensors with one call", place), fixes::kHost.Item("0.5"),
            "torch._foreach_mul_(tensors, factor)", "hours"};
  return {StrCat("replace the loop by operators on the whole tensor, or torch.vmap", place), fixes::kHost.Item("0.5"),
          "out = torch.vmap(function)(batch)", "hours"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const auto loops = tables.Get<PythonLoopsRows>();
  std::vector<RowGroup> places = GroupRows(loops, kKey, [&](size_t row) { return IdleOf(loops, row, ledger); });
  int64_t stake = 0;
  double removable = 0;
  for (const RowGroup& place : places) {
    const auto idle = static_cast<double>(place.value), repeats = loops.Real(place.first(), "repeats");
    stake += place.value, removable += idle * (repeats - 1) / repeats;
  }
  const double share = ledger.Share(stake);
  if (share < kPythonLoopShare) return std::vector<Bottleneck>{};
  places.resize(std::min<size_t>(places.size(), 3));
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("loops over tensors leave the GPU idle for ", ledger.CostText(stake));
  found.description = StrCat(
      "For ", FormatPercent(share),
      " of the time the GPU idles while the program repeats the same few operators on one small tensor after the other",
      Place(loops, places[0].first()), ".");
  for (const RowGroup& place : places) found.evidence.push_back(EvidenceOf(loops, place, ledger));
  found.recommendations.push_back(AdviceFor(loops, places[0].first()));
  const auto idle = static_cast<double>(stake);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = idle * 0.25,
                             .expected_ns = idle * 0.6,
                             .high_ns = removable,
                             .confidence = 0.5});
  found.part_of = ReadsValues(loops.Text(places[0].first(), "pattern")) ? "implicit_sync" : "launch_bound";
  return std::vector{std::move(found)};
}

}  // namespace

RULE(python_loop) = {
    .id = "python_loop",
    .type = BottleneckType::kLaunchBound,
    .title = "The program loops over the elements of tensors",
    .why =
        "Idle time of the GPU while one thread repeats a sequence of 1 to 8 operators at least 16 "
        "times in a row, with the same shapes where they were recorded. Layers of a model, the "
        "optimiser, the backward pass and data loading are not loops. Reported at 5 % of the analysed "
        "time or more, half of what launching in general must cost: it names one place.",
    .saves =
        "¼, 6/10, (r-1)/r of it for r repetitions. Part of implicit_sync where it reads values, else of launch_bound",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::python_loop_rule
