// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "report/amounts.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

constexpr int kMargin = 4;                         // " 1  "
constexpr size_t kMostShown = 5, kMostAdvice = 2;  // bottlenecks, advice of each; -v shows all

Tone ToneOf(double severity) {
  return severity > kCriticalSeverity ? Tone::kCritical : severity >= kWarningSeverity ? Tone::kWarning : Tone::kDim;
}

void AppendIndented(std::string& out, std::string_view text, const Paint& paint, Tone tone,
                    std::string_view lead = "") {
  const int indent = kMargin + DisplayWidth(lead);
  bool first = true;
  for (const std::string& line : WrapWords(Printable(text), paint.width() - indent)) {
    out += std::string(kMargin, ' ') +
           (first ? std::string(lead) : std::string(static_cast<size_t>(DisplayWidth(lead)), ' '));
    out += paint.In(tone, line) + "\n";
    first = false;
  }
}

// "part of 2", when the bottleneck whose time it is part of is listed; else "".
std::string PartOf(const Bottleneck& bottleneck, const std::vector<Bottleneck>& all) {
  for (size_t i = 0; i < all.size() && !bottleneck.part_of.empty(); ++i)
    if (all[i].id == bottleneck.part_of) return StrCat("part of ", i + 1);
  return {};
}

// "DATA_LOADING · critical · 20.1 % of the step · train.py:41"
std::string Label(const Bottleneck& bottleneck, const Report& report) {
  std::vector<std::string> items = {std::string(ToString(bottleneck.type)),
                                    std::string(SeverityWord(bottleneck.severity))};
  if (bottleneck.share_of_step) items.push_back(FormatPercent(*bottleneck.share_of_step) + " of the step");
  if (const std::string part = PartOf(bottleneck, report.diagnosis.bottlenecks); !part.empty()) items.push_back(part);
  for (const Evidence& evidence : bottleneck.evidence) {
    if (evidence.source.empty()) continue;
    items.push_back(evidence.source);
    break;
  }
  if (report.cost && bottleneck.gain) {
    const Amount saved = SavingPerMonth(*report.cost, *bottleneck.gain).expected;
    if (saved.money && *saved.money > 0) items.push_back(StrCat("saves ", MoneyText(*saved.money), " a month"));
  }
  return Join(items, " · ");
}

// What would show as 1.00x is no gain.
bool Buys(const Bottleneck& bottleneck) { return bottleneck.gain && bottleneck.gain->expected >= 1.005; }

// The title with the gain at the right end of its first line.
std::string Title(size_t place, const Bottleneck& bottleneck, const Paint& paint) {
  const std::string gain = bottleneck.gain ? GainText(*bottleneck.gain) : "";
  const int room = paint.width() - kMargin - (gain.empty() ? 0 : DisplayWidth(gain) + 2);
  const std::vector<std::string> title = WrapWords(Printable(bottleneck.title), room);
  std::string out;
  for (size_t i = 0; i < title.size(); ++i) {
    const std::string lead = i == 0 ? PadRight(PadLeft(StrCat(place), 2), kMargin) : std::string(kMargin, ' ');
    out += paint.In(ToneOf(bottleneck.severity), lead);
    out += paint.In(Tone::kBold, i == 0 && !gain.empty() ? PadRight(title[i], room) : title[i]);
    if (i == 0 && !gain.empty()) out += "  " + paint.In(Buys(bottleneck) ? Tone::kGood : Tone::kDim, gain);
    out += "\n";
  }
  return out;
}

// In short: the first sentence of evidence, on one line.
void AppendEvidence(std::string& out, const Bottleneck& bottleneck, const Paint& paint) {
  if (!paint.verbose()) {
    if (bottleneck.evidence.empty()) return;
    out +=
        std::string(kMargin, ' ') + Ellipsize(Printable(bottleneck.evidence[0].text), paint.width() - kMargin) + "\n";
    return;
  }
  AppendIndented(out, bottleneck.description, paint, Tone::kPlain);
  std::string_view last;
  for (const Evidence& evidence : bottleneck.evidence) {
    if (evidence.text != last) AppendIndented(out, evidence.text, paint, Tone::kPlain, "· ");
    last = evidence.text;
  }
}

void AppendAdvice(std::string& out, const Bottleneck& bottleneck, const Paint& paint) {
  std::string_view last;
  size_t shown = 0;
  for (const Recommendation& advice : bottleneck.recommendations) {
    if (advice.text == last) continue;
    if (!paint.verbose() && shown++ == kMostAdvice) return;
    last = advice.text;
    const std::string effort = advice.effort.empty() ? "" : StrCat(" (", advice.effort, ")");
    AppendIndented(out, advice.text + effort, paint, Tone::kAction, "→ ");
    if (!paint.verbose() || advice.code.empty()) continue;
    for (const std::string_view line : Split(advice.code, '\n')) out += StrCat("        ", Printable(line), "\n");
  }
}

std::string One(size_t place, const Bottleneck& bottleneck, const Report& report, const Paint& paint) {
  std::string out = Title(place, bottleneck, paint);
  AppendIndented(out, Label(bottleneck, report), paint, Tone::kDim);
  AppendEvidence(out, bottleneck, paint);
  AppendAdvice(out, bottleneck, paint);
  return out;
}

std::string Together(const Report& report, const Paint& paint) {
  const auto& gain = report.summary.estimated_speedup;
  if (!gain) return {};
  const size_t count = report.diagnosis.bottlenecks.size();
  std::string out;
  if (count > 1) {
    const std::string text = StrCat(TogetherText(report.summary, report.diagnosis.bottlenecks), ": ", GainText(*gain));
    for (const std::string& line : WrapWords(text + TrustText(report.summary), paint.width()))
      out += (line.starts_with(text) ? paint.In(Tone::kGood, text) + paint.In(Tone::kDim, line.substr(text.size()))
                                     : line) +
             "\n";
  }
  if (report.cost) {
    const RunCost& cost = *report.cost;
    const std::string saved = Join(AmountTexts(SavingPerMonth(cost, *gain).expected), ", ");
    const std::string what = StrCat("saves ", saved, " a month");
    const std::string of = StrCat(" of ", Join(AmountTexts(cost.month), ", "), ", on ", cost.gpus,
                                  cost.gpus == 1 ? " GPU" : " GPUs", " for ", FormatNumber(cost.hours_per_month, 0),
                                  " hours", cost.watts_are_limit ? ", at the boards' power limit" : "");
    for (const std::string& line : WrapWords(what + of, paint.width()))
      out += (line.starts_with(what) ? paint.In(Tone::kGood, what) + line.substr(what.size()) : line) + "\n";
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string BottlenecksSection(const Report& report, const Paint& paint) {
  const auto& found = report.diagnosis.bottlenecks;
  if (report.summary.total.wall_ns == 0 && found.empty()) return {};
  if (found.empty()) {
    return StrCat(paint.In(Tone::kBold, "nothing to fix was found"), ": no rule reached its threshold\n");
  }
  std::string out = paint.In(Tone::kBold, "what to fix, by what it buys") + "\n";
  const size_t shown = paint.verbose() ? found.size() : std::min(found.size(), kMostShown);
  for (size_t i = 0; i < shown; ++i) out += One(i + 1, found[i], report, paint);
  if (shown < found.size()) out += StrCat("    and ", found.size() - shown, " more (-v shows them)\n");
  const std::string together = Together(report, paint);
  return out + together;
}

}  // namespace gapless::internal
