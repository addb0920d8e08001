// SPDX-License-Identifier: Apache-2.0
// The sentences of `why`, and the names of causes and rows.
#include "report/why/words.h"

#include <cmath>

namespace gapless::internal {
namespace {

struct Titles {
  CauseKind kind;
  std::string_view more, less;
};
constexpr Titles kTitles[] = {
    {CauseKind::kKernelTime, "the same kernels take longer", "the same kernels take less time"},
    {CauseKind::kKernelCount, "kernels run more often", "kernels run less often"},
    {CauseKind::kOtherKernels, "other kernels do the work, more slowly", "other kernels do the work, faster"},
    {CauseKind::kOperators, "new operators", "operators that are gone"},
    {CauseKind::kClock, "the GPU's clock is lower", "the GPU's clock is higher"},
    {CauseKind::kCommunication, "more communication that nothing hides", "less communication that nothing hides"},
    {CauseKind::kCopies, "more time in copies that nothing hides", "less time in copies that nothing hides"},
    {CauseKind::kLoader, "waits longer for the next batch", "waits less for the next batch"},
    {CauseKind::kLaunch, "idles longer while the host launches work", "idles less while the host launches work"},
    {CauseKind::kSync, "idles longer around calls that block", "idles less around calls that block"},
    {CauseKind::kHost, "the host's own code takes longer", "the host's own code takes less time"},
    {CauseKind::kUnknown, "idles longer, reason not recorded", "idles less, reason not recorded"},
    {CauseKind::kOperatorTime, "the same operators take longer", "the same operators take less time"},
    {CauseKind::kOperatorCount, "operators run more often", "operators run less often"},
    {CauseKind::kOptimizer, "the optimizer takes longer", "the optimizer takes less time"},
    {CauseKind::kCheckpoint, "saving takes longer", "saving takes less time"},
    {CauseKind::kGarbage, "garbage collection takes longer", "garbage collection takes less time"},
    {CauseKind::kCompile, "compiling takes longer", "compiling takes less time"},
};
static_assert(std::size(kTitles) == static_cast<size_t>(CauseKind::kKinds));

// Causes of less than this share of the largest one are no matter for a sentence.
constexpr double kMentioned = 0.25;
// Steps this close take the same time, as far as anyone should care.
constexpr double kSame = 0.005;

bool HasBothSigns(const Cause& cause) {
  bool more = false, less = false;
  for (const CauseRow& row : cause.rows) (row.ns > 0 ? more : less) = true;
  return more && less;
}

// "the same kernels take longer (+10.1 ms), most of all sgemm in aten::mm (+9.0 ms)".
std::string CauseText(const Cause& cause) {
  std::string text = StrCat(TitleOf(cause), " (", SignedTime(cause.ns), ")");
  const CauseRow* most = nullptr;
  for (const CauseRow& row : cause.rows)
    if ((row.ns > 0) == (cause.ns > 0) && (most == nullptr || std::abs(row.ns) > std::abs(most->ns))) most = &row;
  if (most == nullptr || (most->name.empty() && cause.kind != CauseKind::kOptimizer)) return text;
  text += StrCat(cause.rows.size() == 1 ? ": " : ", most of all ", SubjectOf(cause.kind, *most));
  return cause.rows.size() == 1 ? text : StrCat(text, " (", SignedTime(most->ns), ")");
}

std::string Listed(const std::vector<const Cause*>& causes, std::string_view begin) {
  std::string text;
  for (const Cause* cause : causes) text += StrCat(text.empty() ? begin : "; ", CauseText(*cause));
  return text.empty() ? text : StrCat(text, ".");
}

// If everything takes longer by one factor, not one kernel or operator is to blame.
constexpr double kNearFactor = 0.1, kMostOfTheTime = 0.8, kTelling = 0.05;

// Says so where most of the time of the same kernels, or operators, changed by about one factor; else "".
std::string AlikeText(const StepDifference& difference, bool on_device) {
  const CauseKind kind = on_device ? CauseKind::kKernelTime : CauseKind::kOperatorTime;
  if (difference.causes.empty() || difference.causes[0].kind != kind) return {};
  int64_t before = 0, after = 0, alike = 0;
  for (const CauseRow& row : difference.causes[0].rows) before += row.a_ns, after += row.a_ns + row.ns;
  if (before <= 0 || difference.causes[0].rows.size() < 3) return {};
  const double factor = static_cast<double>(after) / static_cast<double>(before);
  for (const CauseRow& row : difference.causes[0].rows)
    if (std::abs(static_cast<double>(row.a_ns + row.ns) - factor * static_cast<double>(row.a_ns)) <
        kNearFactor * factor * static_cast<double>(row.a_ns))
      alike += row.a_ns;
  if (static_cast<double>(alike) < kMostOfTheTime * static_cast<double>(before) || std::abs(factor - 1) < kTelling)
    return {};
  return StrCat("nearly all of them take ", FormatNumber(factor, 2), " times as long, so it may be the machine: ",
                on_device ? "the clock, the power limit, or another program on the GPU"
                          : "other programs on its processors, or its clock");
}

}  // namespace

std::string_view TitleOf(const Cause& cause) {
  if (cause.kind == CauseKind::kOperators && HasBothSigns(cause)) return "new and vanished operators";
  if (cause.kind == CauseKind::kOtherKernels) {
    bool only_a = true, only_b = true;
    for (const CauseRow& row : cause.rows) {
      only_a = only_a && row.presence == Presence::kOnlyA;
      only_b = only_b && row.presence == Presence::kOnlyB;
    }
    if (only_a) return "kernels that are gone";
    if (only_b) return "new kernels";
  }
  for (const Titles& titles : kTitles)
    if (titles.kind == cause.kind) return cause.ns >= 0 ? titles.more : titles.less;
  return {};
}

std::string NameOfRow(CauseKind kind, const CauseRow& row) {
  if (row.name.empty())
    return kind == CauseKind::kLaunch      ? "starting the device"
           : kind == CauseKind::kOptimizer ? "its Python code"
                                           : "nothing that was recorded";
  if (row.name == kOtherParts) return "smaller ones";
  if (kind == CauseKind::kOtherKernels && row.presence == Presence::kBoth && !row.op.empty()) return row.op;
  std::string name = IsOfKernels(kind) && row.a_calls + row.b_calls > 0 ? KernelFunction(row.name) : row.name;
  if (name.empty()) name = row.name;
  constexpr std::string_view kBackward = "autograd::engine::evaluate_function: ";
  if (name.starts_with(kBackward)) name.erase(0, kBackward.size());
  if (const size_t at = name.find(" object at 0x"); at != name.npos) name = StrCat(name.substr(0, at), ">");
  return row.op.empty() || row.op == row.name ? name : StrCat(name, " in ", row.op);
}

std::string SubjectOf(CauseKind kind, const CauseRow& row) {
  std::string text = NameOfRow(kind, row);
  if (kind == CauseKind::kKernelCount || kind == CauseKind::kOperatorCount)
    text += StrCat(", ", CallsText(row.a_calls), " → ", CallsText(row.b_calls), " calls");
  const bool by_time = kind == CauseKind::kKernelTime || kind == CauseKind::kOperatorTime;
  if (by_time && row.a_calls > 0 && row.b_calls > 0 && CallsText(row.a_calls) != CallsText(row.b_calls))
    text += StrCat(", ", FormatDuration(std::llround(static_cast<double>(row.a_ns) / row.a_calls)), " → ",
                   FormatDuration(std::llround(static_cast<double>(row.b_ns) / row.b_calls)), " a call");
  if (!row.line.empty()) text += StrCat(", ", row.line);
  return text;
}

std::string WhySentence(const WhyView& view) {
  const StepDifference& difference = view.difference;
  const int64_t ns = difference.ns();
  const double share = difference.a_ns > 0 ? static_cast<double>(ns) / static_cast<double>(difference.a_ns) : 0;
  const std::string_view what = difference.of_steps ? "a step" : "the recording, which marks no steps,";
  std::string text = StrCat("In B ", what, " takes ", FormatDuration(difference.b_ns));
  if (std::abs(share) < kSame)
    text += StrCat(", as long as in A (", ns == 0 ? "to the nanosecond" : SignedTime(ns), ").");
  else
    text += StrCat(", ", FormatDuration(std::abs(ns)), " (", FormatPercent(std::abs(share)), ") ",
                   ns > 0 ? "longer" : "less", " than in A.");
  if (difference.causes.empty()) return text;
  // If nothing is left over, the largest cause stands first, and what makes up for it second.
  const bool grows = std::abs(share) < kSame ? difference.causes[0].ns > 0 : ns > 0;
  const double least = kMentioned * static_cast<double>(std::abs(difference.causes[0].ns));
  std::vector<const Cause*> with, against;
  for (const Cause& cause : difference.causes) {
    if (static_cast<double>(std::abs(cause.ns)) < least ||
        static_cast<double>(std::abs(cause.ns)) < kSame * static_cast<double>(difference.a_ns))
      continue;
    ((cause.ns > 0) == grows ? with : against).push_back(&cause);
  }
  text += Listed(with, std::abs(share) < kSame ? " What changed: " : " Because: ");
  return text + Listed(against, " Against that: ");
}

std::vector<std::string> WhyNotes(const WhyView& view) {
  std::vector<std::string> notes;
  const StepLedger &a = view.a, &b = view.b;
  if (!a.device_name.empty() && !b.device_name.empty() && a.device_name != b.device_name)
    notes.push_back(StrCat("the GPUs differ: A ran on ", a.device_name, ", B on ", b.device_name));
  if (a.devices != b.devices)
    notes.push_back(StrCat(
        "A has ", a.devices, ", B has ", b.devices,
        a.on_device ? " GPUs: times are those of the mean GPU" : " processes: times are those of the mean process"));
  if (!view.difference.of_steps)
    notes.emplace_back("neither recording marks steps: all that was recorded is compared, and more work looks slower");
  else if (a.median_step_ns && b.median_step_ns) {
    const int64_t medians = *b.median_step_ns - *a.median_step_ns, means = view.difference.ns();
    const auto off = static_cast<double>(std::abs(medians - means));
    if (off > 0.25 * static_cast<double>(std::abs(means)) && off > 0.02 * static_cast<double>(view.difference.a_ns))
      notes.push_back(StrCat("the median steps differ by ", SignedTime(medians),
                             ": the rest is of single slow steps, or between steps"));
  }
  if (std::string alike = AlikeText(view.difference, a.on_device); !alike.empty()) notes.push_back(std::move(alike));
  if (a.summed_below_ns > 0 || b.summed_below_ns > 0)
    notes.emplace_back("a record of the history keeps the largest parts of a step; smaller ones are added up");
  return notes;
}

}  // namespace gapless::internal
