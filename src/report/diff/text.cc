// SPDX-License-Identifier: Apache-2.0
// Writes `diff` for a terminal and as a document: the same tables.
#include <algorithm>
#include <cmath>

#include "report/diff/report.h"
#include "report/lab/parts.h"
#include "report/text_table.h"
#include "report/why/words.h"

namespace gapless::internal {
namespace {

using Cells = std::vector<std::vector<std::string>>;  // the head first

std::string CountCell(double calls, bool is_there) { return is_there ? CallsText(calls) : "–"; }

// The last operator of a path: what a reader looks for.
std::string_view LastOf(std::string_view path) {
  const size_t at = path.rfind(" > ");
  return at == path.npos ? path : path.substr(at + 3);
}

std::string SubjectOfChange(const OutlineChange& change, bool are_kernels) {
  std::string text = change.name;
  if (are_kernels) text = KernelFunction(change.name).empty() ? change.name : KernelFunction(change.name);
  if (!change.path.empty()) text += StrCat(" in ", LastOf(change.path));
  return change.shapes.empty() ? text : StrCat(text, " ", change.shapes);
}

Cells ChangeCells(const std::vector<OutlineChange>& changes, std::string_view what, size_t rows) {
  const bool are_kernels = what == "kernel";
  Cells cells{{std::string(what), "calls A", "calls B", "A", "B", "B − A"}};
  for (size_t i = 0; i < std::min(rows, changes.size()); ++i) {
    const OutlineChange& one = changes[i];
    const bool in_a = one.presence != Presence::kOnlyB, in_b = one.presence != Presence::kOnlyA;
    cells.push_back({SubjectOfChange(one, are_kernels), CountCell(one.a_calls, in_a), CountCell(one.b_calls, in_b),
                     in_a ? FormatDuration(one.a_ns) : "–", in_b ? FormatDuration(one.b_ns) : "–",
                     SignedTime(one.ns())});
  }
  return cells;
}

int64_t MeanStep(const StepLedger& ledger) {
  return std::llround(static_cast<double>(ledger.wall_ns) / static_cast<double>(ledger.Units()));
}

// Parts of the step as the ledger has them, over all devices.
Cells StepCells(const DiffView& view) {
  const int64_t a_ns = MeanStep(view.a), b_ns = MeanStep(view.b);
  Cells cells{{"step", "A", "B", "B − A"}};
  cells.push_back({view.a.steps > 0 ? "mean step" : "all that was recorded", FormatDuration(a_ns), FormatDuration(b_ns),
                   SignedTime(b_ns - a_ns)});
  if (view.a.median_step_ns && view.b.median_step_ns)
    cells.push_back({"median step", FormatDuration(*view.a.median_step_ns), FormatDuration(*view.b.median_step_ns),
                     SignedTime(*view.b.median_step_ns - *view.a.median_step_ns)});
  std::vector<std::string> names;
  const auto sum = [](const StepLedger& ledger, const std::string& part) {
    int64_t ns = 0;
    for (const StepPart& one : ledger.parts) ns += one.part == part ? one.ns : 0;
    return std::llround(static_cast<double>(ns) / static_cast<double>(ledger.Units()));
  };
  for (const StepLedger* ledger : {&view.a, &view.b})
    for (const StepPart& part : ledger->parts)
      if (std::ranges::find(names, part.part) == names.end()) names.push_back(part.part);
  std::ranges::sort(names);
  for (const std::string& part : names) {
    const int64_t in_a = sum(view.a, part), in_b = sum(view.b, part);
    cells.push_back({StrCat("  ", part), FormatDuration(in_a), FormatDuration(in_b), SignedTime(in_b - in_a)});
  }
  return cells;
}

Cells MemoryCells(const DiffView& view) {
  Cells cells{{"memory", "A", "B", "B − A"}};
  const auto add = [&](const std::string& name, std::optional<int64_t> a, std::optional<int64_t> b) {
    if (!a && !b) return;
    std::string change = "–";
    if (a && b) change = StrCat(*b < *a ? "−" : "+", FormatBytes(std::abs(*b - *a)));
    cells.push_back({name, a ? FormatBytes(*a) : "–", b ? FormatBytes(*b) : "–", change});
  };
  for (const OutlineMemory& b : view.b_memory)
    for (const OutlineMemory& a : view.a_memory) {
      if (a.device != b.device) continue;
      const std::string where = a.device ? StrCat("GPU ", *a.device) : "host";
      add(StrCat(where, ": peak of tensors"), a.peak_allocated_bytes, b.peak_allocated_bytes);
      add(StrCat(where, ": peak of the allocator"), a.peak_reserved_bytes, b.peak_reserved_bytes);
    }
  return cells;
}

std::vector<Cells> TablesOf(const DiffView& view, size_t rows) {
  std::vector<Cells> tables{StepCells(view), ChangeCells(view.kernels, "kernel", rows),
                            ChangeCells(view.operators, "operator", rows), MemoryCells(view)};
  std::erase_if(tables, [](const Cells& cells) { return cells.size() < 2; });
  return tables;
}

// The first column takes the columns that the others leave.
std::string TableText(Cells cells, int width) {
  std::vector<int> widths(cells[0].size(), 0);
  for (const auto& row : cells)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  int others = 0;
  for (size_t i = 1; i < widths.size(); ++i) others += widths[i] + 2;
  const int first = std::min(widths[0], std::max(20, width - others));
  std::string out;
  for (const auto& row : cells) {
    std::string line = Padded(Ellipsize(Printable(row[0]), first), static_cast<size_t>(first), false);
    for (size_t i = 1; i < row.size(); ++i) line += StrCat("  ", Padded(row[i], static_cast<size_t>(widths[i]), true));
    out += StrCat(line, "\n");
  }
  return out;
}

std::string LeftOut(size_t all, size_t rows, std::string_view what) {
  if (all <= rows) return {};
  return StrCat("… ", FormatCounted(static_cast<int64_t>(all - rows), StrCat("more ", what)),
                ": --rows shows more, --json all\n");
}

}  // namespace

std::string DiffText(const DiffView& view, int width, size_t rows) {
  std::string out = StrCat("A  ", Printable(view.a_name), "\nB  ", Printable(view.b_name), "\n");
  for (const Cells& cells : TablesOf(view, rows)) {
    out += StrCat("\n", TableText(cells, width));
    if (cells[0][0] == "kernel") out += LeftOut(view.kernels.size(), rows, "kernel");
    if (cells[0][0] == "operator") out += LeftOut(view.operators.size(), rows, "operator");
  }
  return out;
}

LabDocument DiffPage(const DiffView& view, size_t rows) {
  LabDocument document{.title = "Two recordings side by side"};
  document.sections.push_back({"Recordings", {lab::ListOf({StrCat("A: ", view.a_name), StrCat("B: ", view.b_name)})}});
  for (Cells& cells : TablesOf(view, rows)) {
    const std::string heading = StrCat("By ", cells[0][0]);
    document.sections.push_back({heading, {lab::TableOf(std::move(cells))}});
  }
  return document;
}

}  // namespace gapless::internal
