// SPDX-License-Identifier: Apache-2.0
// Prints `gapless kernel`: the chains in a table, what was left out and why, and what to type next.
#include <algorithm>

#include "base/strings.h"
#include "report/kernel/report.h"
#include "report/text_table.h"

namespace gapless::internal {
namespace {

std::string WithoutSpace(std::string_view name) {
  return std::string(name.starts_with("aten::") ? name.substr(6) : name);
}

std::string ChainText(const KernelPlan& plan) {
  std::vector<std::string> names;
  for (const PlanLink& link : plan.links) names.push_back(WithoutSpace(link.name));
  return Join(names, " > ");
}

std::string TensorText(const Shape& shape, ElementType type) {
  std::vector<std::string> sizes;
  for (const int64_t size : shape) sizes.push_back(StrCat(size));
  return StrCat(ToString(type), "[", Join(sizes, ","), "]");
}

std::string GainText(const KernelView& view, size_t index) {
  if (index >= view.gains.size() || !view.gains[index]) return "not known";
  const StepShares& share = *view.gains[index];
  return StrCat(FormatNumber(1 / share.expected, 3), "x (", FormatNumber(1 / share.high, 3), " to ",
                FormatNumber(1 / share.low, 3), ")");
}

// Times of all calls, or of those in a step where there are steps.
std::string TimeText(const KernelView& view, int64_t ns) {
  return FormatMs(view.search->steps > 0 ? ns / view.search->steps : ns);
}

// The operators have what the figures leave of a line; the lines below the table have all of them.
std::string ChainTable(const KernelView& view, int columns) {
  constexpr int kFigures = 64, kFewest = 16;
  const auto& all = view.search->candidates;
  const bool by_step = view.search->steps > 0;
  const std::vector<std::string> head = {
      "", by_step ? "a step" : "calls", by_step ? "time a step" : "time", "bound", "faster step", "operators"};
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(all.size(), view.shown); ++i) {
    const KernelCandidate& one = all[i];
    rows.push_back({StrCat("  ", i + 1),
                    one.calls_per_step ? FormatNumber(*one.calls_per_step, 1) : FormatCount(one.calls),
                    TimeText(view, one.device_ns), one.bound_ns ? TimeText(view, *one.bound_ns) : "not known",
                    GainText(view, i), Ellipsize(ChainText(one.plan), std::max(kFewest, columns - kFigures))});
  }
  return Aligned(head, rows, "operators");
}

std::string AfterText(const KernelCandidate& one) {
  if (one.after.empty()) return "";
  return StrCat("; follows ", WithoutSpace(one.after), ", which stays the library's");
}

std::string Details(const KernelView& view, int columns) {
  std::string text;
  const auto& all = view.search->candidates;
  for (size_t i = 0; i < std::min(all.size(), view.shown); ++i) {
    const KernelPlan& plan = all[i].plan;
    std::vector<std::string> tensors;
    for (const PlanInput& input : plan.inputs) tensors.push_back(TensorText(input.shape, input.type));
    const std::string line =
        StrCat(ChainText(plan), ": ", Join(tensors, ", "), " gives ", TensorText(plan.last().shape, plan.last().type),
               ", ", FormatBytes(plan.bytes()), " at least",
               all[i].source_line.empty() ? "" : StrCat("; ", all[i].source_line), AfterText(all[i]));
    text += StrCat("  ", Padded(StrCat(i + 1), 2, true), "  ", Wrapped(Printable(line), 6, columns), "\n");
  }
  return text;
}

std::string LeftOut(const KernelView& view, int columns) {
  constexpr size_t kMost = 8;
  const auto& refused = view.search->refused;
  if (refused.empty()) return "";
  std::string text = "\nno kernel is made of\n";
  for (size_t i = 0; i < std::min(refused.size(), kMost); ++i)
    text +=
        StrCat("  ",
               Wrapped(Printable(StrCat(WithoutSpace(refused[i].name), " (", FormatCounted(refused[i].calls, "call"),
                                        ", ", FormatMs(refused[i].device_ns), "): ", refused[i].why)),
                       2, columns),
               "\n");
  if (refused.size() > kMost) text += StrCat("  and ", refused.size() - kMost, " more (--json)\n");
  return text;
}

std::string Written(const KernelView& view) {
  if (!view.written) return "";
  std::string text = StrCat("chain ", *view.written + 1, " is written to ", Printable(view.folder), ":\n");
  for (const std::string& file : view.files) text += StrCat("  ", file, "\n");
  return text + StrCat("\n  test it     python ", ShellWord(StrCat(view.folder, "/test_", view.name, ".py")),
                       "\n  measure it  python ", ShellWord(StrCat(view.folder, "/benchmark_", view.name, ".py")),
                       "\n");
}

}  // namespace

std::string KernelText(const KernelView& view, int columns) {
  if (view.written) return Written(view);
  const auto& all = view.search->candidates;
  if (all.empty()) return StrCat("no chain of operators could be a kernel of its own\n", LeftOut(view, columns));
  int64_t device_ns = 0;
  for (const KernelCandidate& one : all) device_ns += one.device_ns;
  std::string text =
      StrCat(FormatCounted(static_cast<int64_t>(all.size()), "chain"),
             all.size() == 1 ? " of operators could be one kernel: " : " of operators could be one kernel each: ",
             TimeText(view, device_ns), view.search->steps > 0 ? " of device time a step\n\n" : " of device time\n\n",
             ChainTable(view, columns));
  if (all.size() > view.shown) text += StrCat("  and ", all.size() - view.shown, " more (--top)\n");
  text += StrCat("\n", Details(view, columns));
  if (!view.why_no_gain.empty())
    text += StrCat("\n", Wrapped(StrCat("the gain of a step is not known: ", Printable(view.why_no_gain)), 0, columns),
                   "\n");
  return text + LeftOut(view, columns) + "\n  write one  gapless kernel … --chain 1 --write DIR\n";
}

}  // namespace gapless::internal
