// SPDX-License-Identifier: Apache-2.0
// Prints the list of findings: title with gain, label, first evidence, recommendations, and the findings that the same
// fix removes.
//
// The short report shows five findings with one line of evidence and two recommendations each; -v shows all. Findings
// whose fixes would not shorten the step have no number and stand at the end. Lines are composed as plain text and
// wrapped before they are coloured, because colour codes have no width.
//
//    1  the GPU waits 58.7 ms of every step for the next batch     1.45× (1.17–1.76)
//       DATA_LOADING · critical · 33.1 % of the step · resnet50_profiler_api.py:42
//       → load batches in worker processes: num_workers=2 instead of 0 (minutes)
#include <algorithm>

#include "analyses/rows/operators.h"
#include "base/strings.h"
#include "report/amounts.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr int kLeftMargin = 4;    // " 1  "
constexpr int kMaxShown = 5;      // bottlenecks; -v shows all
constexpr size_t kMaxAdvice = 2;  // maximum number of fixes, and of documents, of a bottleneck

// Returns the colour of the number in front of a finding.
Tone ToneOf(double severity) {
  return severity > kCriticalSeverity ? Tone::kCritical : severity >= kWarningSeverity ? Tone::kWarning : Tone::kDim;
}

// Appends wrapped lines under the number; those after the first are indented by the lead's width.
void AppendIndented(std::string& out, std::string_view text, const Paint& paint, Tone tone,
                    std::string_view lead = "") {
  const int indent = kLeftMargin + DisplayWidth(lead);
  bool first = true;
  for (const std::string& line : WrapCut(Printable(text), paint.width() - indent)) {
    out += std::string(kLeftMargin, ' ') +
           (first ? std::string(lead) : std::string(static_cast<size_t>(DisplayWidth(lead)), ' '));
    out += paint.In(tone, line) + "\n";
    first = false;
  }
}

// "part of 2", when the bottleneck whose time it is part of has a place in the list; else "".
std::string PartOf(const Bottleneck& bottleneck, const Report& report) {
  const std::vector<Bottleneck>& all = report.diagnosis.bottlenecks;
  const std::vector<int> places = PlacesOf(all);
  for (size_t i = 0; i < all.size() && !bottleneck.part_of.empty(); ++i)
    if (all[i].id == bottleneck.part_of && places[i] > 0) return StrCat("part of ", places[i]);
  return {};
}

// "DATA_LOADING · critical · 20.1 % of the step · train.py:41"
std::string Label(const Bottleneck& bottleneck, const Report& report) {
  std::vector<std::string> items = {std::string(ToString(bottleneck.type)), std::string(SeverityWord(bottleneck))};
  if (bottleneck.share_of_step) items.push_back(ShareText(report.summary, *bottleneck.share_of_step));
  if (const std::string part = PartOf(bottleneck, report); !part.empty()) items.push_back(part);
  for (const Evidence& evidence : bottleneck.evidence) {
    if (evidence.source.empty()) continue;
    items.push_back(evidence.source);
    break;
  }
  if (bottleneck.apart) items.emplace_back(ApartText(report.summary));
  if (bottleneck.gain) items.push_back(UntestedText(report.summary, *bottleneck.gain));
  std::erase(items, "");
  if (report.cost && bottleneck.gain) {
    const Amount saved = SavingPerMonth(*report.cost, *bottleneck.gain, bottleneck.step_left).expected;
    if (saved.money && *saved.money > 0) items.push_back(StrCat("saves ", MoneyText(*saved.money), " a month"));
  }
  return Join(items, " · ");
}

// The title with the gain at the right end of its first line.
std::string Title(int place, const Bottleneck& bottleneck, const Paint& paint) {
  const std::string gain = bottleneck.gain ? GainText(*bottleneck.gain) : "";
  const int room = paint.width() - kLeftMargin - (gain.empty() ? 0 : DisplayWidth(gain) + 2);
  const std::vector<std::string> title = WrapCut(Printable(bottleneck.title), room);
  std::string out;
  for (size_t i = 0; i < title.size(); ++i) {
    const std::string lead = i == 0 ? PadRight(PadLeft(StrCat(place), 2), kLeftMargin) : std::string(kLeftMargin, ' ');
    out += paint.In(ToneOf(bottleneck.severity), lead);
    out += paint.In(Tone::kBold, i == 0 && !gain.empty() ? PadRight(title[i], room) : title[i]);
    if (i == 0 && !gain.empty()) out += "  " + paint.In(Tone::kGood, gain);
    out += "\n";
  }
  return out;
}

// In short: the first sentence of evidence, with the number that most of them end in.
void AppendEvidence(std::string& out, const Bottleneck& bottleneck, const Paint& paint) {
  if (!paint.verbose()) {
    if (bottleneck.evidence.empty()) return;
    AppendIndented(out, bottleneck.evidence[0].text, paint, Tone::kPlain);
    return;
  }
  AppendIndented(out, bottleneck.description, paint, Tone::kPlain);
  std::string_view last;
  for (const Evidence& evidence : bottleneck.evidence) {
    if (evidence.text != last) AppendIndented(out, evidence.text, paint, Tone::kPlain, "· ");
    last = evidence.text;
  }
}

// Equal recommendations that follow each other are shown once. The code to paste is part of the long report only.
void AppendAdvice(std::string& out, const Bottleneck& bottleneck, const Paint& paint) {
  std::string_view last;
  size_t shown = 0;
  for (const Recommendation& advice : bottleneck.recommendations) {
    if (advice.text == last) continue;
    if (!paint.verbose() && shown++ == kMaxAdvice) return;
    last = advice.text;
    const std::string effort = advice.effort.empty() ? "" : StrCat(" (", advice.effort, ")");
    AppendIndented(out, advice.text + effort, paint, Tone::kAction, "→ ");
    if (!paint.verbose() || advice.code.empty()) continue;
    for (const std::string_view line : Split(advice.code, '\n')) out += StrCat("        ", Printable(line), "\n");
  }
}

// Appends the findings that the fix of `head` removes, too, a line each; in the long report with their descriptions.
void AppendCured(std::string& out, const Bottleneck& head, const Report& report, const Paint& paint) {
  for (const Bottleneck& bottleneck : report.diagnosis.bottlenecks) {
    if (bottleneck.cured_by != head.id) continue;
    AppendIndented(out, StrCat(bottleneck.title, " (", bottleneck.id, ")"), paint, Tone::kPlain, "+ ");
    if (paint.verbose()) AppendIndented(out, bottleneck.description, paint, Tone::kDim, "  ");
  }
}

// Returns one finding with all that belongs to it, in the order in which a reader decides: cost, proof, what to do.
std::string One(int place, const Bottleneck& bottleneck, const Report& report, const Paint& paint) {
  std::string out = Title(place, bottleneck, paint);
  AppendIndented(out, Label(bottleneck, report), paint, Tone::kDim);
  if (!bottleneck.why_first.empty()) AppendIndented(out, StrCat("first: ", bottleneck.why_first), paint, Tone::kDim);
  AppendEvidence(out, bottleneck, paint);
  if (!bottleneck.also.empty()) AppendIndented(out, bottleneck.also, paint, Tone::kPlain);
  AppendAdvice(out, bottleneck, paint);
  AppendCured(out, bottleneck, report, paint);
  return out;
}

// Returns the findings that no known fix shortens.
std::string NotToFix(const Report& report, const Paint& paint) {
  std::string out;
  for (const Bottleneck& bottleneck : report.diagnosis.bottlenecks)
    if (bottleneck.cured_by.empty() && !IsToFix(bottleneck))
      AppendIndented(out,
                     StrCat(bottleneck.title, " (", bottleneck.id, ", ", FactorText(bottleneck.gain->expected), ")"),
                     paint, Tone::kDim);
  return out.empty()
             ? out
             : paint.In(Tone::kDim, "seen; the fixes that are known for it would not shorten the step") + "\n" + out;
}

// Returns the gain of all fixes together, and the saving. A plan of one fix needs no sum.
std::string Together(const Report& report, const Paint& paint) {
  const auto& gain = report.summary.estimated_speedup;
  if (!gain) return {};
  std::string out;
  if (report.summary.plan.size() > 1) {
    const std::string text = StrCat(TogetherText(report.summary, report.diagnosis.bottlenecks), ": ", GainText(*gain));
    const std::string trust = TrustText(report.summary, report.diagnosis.bottlenecks);
    for (const std::string& line : WrapCut(StrCat(text, trust.empty() ? "" : "; ", trust), paint.width()))
      // The gain is green if the line did not break within it; what limits it is dim.
      out += line.starts_with(text)
                 ? StrCat(paint.In(Tone::kGood, text), paint.In(Tone::kDim, line.substr(text.size())), "\n")
                 : StrCat(paint.In(Tone::kDim, line), "\n");
  }
  if (report.cost) {
    const RunCost& cost = *report.cost;
    const std::string saved = Join(AmountTexts(SavingPerMonth(cost, *gain).expected), ", ");
    const std::string what = StrCat("saves ", saved, " a month");
    const std::string of = StrCat(" of ", Join(AmountTexts(cost.month), ", "), ", on ", cost.gpus,
                                  cost.gpus == 1 ? " GPU" : " GPUs", " for ", FormatNumber(cost.hours_per_month, 0),
                                  " hours", cost.watts_are_limit ? ", at the boards' power limit" : "");
    for (const std::string& line : WrapCut(what + of, paint.width()))
      out += (line.starts_with(what) ? paint.In(Tone::kGood, what) + line.substr(what.size()) : line) + "\n";
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string BottlenecksSection(const Report& report, const Paint& paint) {
  const auto& found = report.diagnosis.bottlenecks;
  const bool only_host = report.summary.total.wall_ns == 0;
  if (only_host && report.tables.Get<OperatorsRows>().rows() == 0 && found.empty()) return {};
  const std::vector<int> places = PlacesOf(found);
  const int last = places.empty() ? 0 : *std::ranges::max_element(places);
  const std::string not_to_fix = NotToFix(report, paint);
  if (last == 0) {
    const std::string_view why = found.empty() ? ": no rule reached its threshold\n" : "\n";
    return StrCat(paint.In(Tone::kBold, "nothing to fix was found"), only_host ? " in what the host did" : "", why,
                  not_to_fix);
  }
  std::string out = paint.In(Tone::kBold, "what to fix, and what each brings after those above it") + "\n";
  // Places are ascending over the list, so the first kMaxShown places are the most worthwhile findings.
  const int shown = paint.verbose() ? last : std::min(last, kMaxShown);
  for (size_t i = 0; i < found.size(); ++i)
    if (places[i] > 0 && places[i] <= shown) out += One(places[i], found[i], report, paint);
  if (shown < last) out += StrCat("    and ", last - shown, " more (-v shows them)\n");
  return out + not_to_fix + Together(report, paint);
}

}  // namespace gapless::internal
