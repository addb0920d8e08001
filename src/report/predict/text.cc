// SPDX-License-Identifier: Apache-2.0
// Prints `gapless predict`: the predicted step time with its interval, assumptions, and fixes without effect; then, if
// they were asked for, the measured step, the critical path and the sweep. Names of kernels and threads are cut at the
// width; sentences are wrapped below their prediction.
//
//   a step takes 177.6 ms; replayed 177.4 ms (-0.12 %)
//     workers=4, pin  115.3 ms    1.54x (1.15x to 2.03x)  stochastic
//         if the copies are asked for with non_blocking=True
//         pin: tested on 1 program on GPUs, half of the predictions within 10.3 %
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/strings.h"
#include "report/predict/report.h"
#include "report/renderers/terminal/paint.h"
#include "report/text_table.h"

namespace gapless::internal {
namespace {

std::string ItemsText(const Prediction& prediction) {
  std::vector<std::string> names;
  for (const WhatIfItem& item : prediction.what) names.push_back(Printable(item.ToString()));
  return Join(names, ", ");
}

std::string MillisecondsText(int64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  return StrCat(FormatNumber(ms, ms < 10 ? 3 : 1), " ms");
}

std::string TimesText(double factor) { return StrCat(FormatNumber(factor, 2), "x"); }

// Returns a sentence below a prediction; what does not fit on its line continues further indented.
std::string Remark(std::string_view what, const std::string& text, int columns) {
  constexpr int kIndent = 6, kMore = 3;
  std::string out;
  for (const std::string& line : WrapCut(StrCat(what, Printable(text)), columns - kIndent - kMore))
    out += StrCat(std::string(kIndent + (out.empty() ? 0 : kMore), ' '), line, "\n");
  return out;
}

// Returns the test results of such predictions on machines of this kind.
std::string TestedText(const Predictor& predictor, const WhatIfItem& item, int columns) {
  const auto tested = predictor.calibration().TestedOf(item.name);
  const std::string where = predictor.machine() == Machine::kGpu ? "GPUs" : "CPUs";
  if (tested.programs == 0) return Remark("", StrCat(item.name, " is untested on ", where), columns);
  return Remark("",
                StrCat(item.name, ": tested on ", tested.programs, tested.programs == 1 ? " program" : " programs",
                       " on ", where, ", half of the predictions within ", FormatPercent(*tested.within)),
                columns);
}

std::string MemoryText(const Prediction& prediction, int columns) {
  std::string text;
  for (const FreedMemory& one : prediction.memory)
    text += Remark("", StrCat(prediction.what.size() > 1 ? one.what + " " : "", one.text), columns);
  return text;
}

// Returns a prediction with its remarks. The interval of the speedup is that of the share, inverted.
std::string Line(const Predictor& predictor, const Prediction& prediction, size_t width, int columns) {
  const std::string name = Padded(ItemsText(prediction), width, false);
  if (!prediction.refusal.empty())
    return StrCat("  ", name, "  no prediction\n", Remark("", prediction.refusal, columns),
                  MemoryText(prediction, columns));
  const StepShares& share = prediction.share;
  std::string text = StrCat("  ", name, "  ", Padded(MillisecondsText(StepNs(predictor, share.expected)), 10, false),
                            "  ", TimesText(1 / share.expected), " (", TimesText(1 / share.high), " to ",
                            TimesText(1 / share.low), ")  ", ToString(prediction.safety), "\n");
  for (const std::string& item : prediction.no_effect) text += Remark("no effect: ", item, columns);
  text += MemoryText(prediction, columns);
  for (const std::string& assumption : prediction.assumptions) text += Remark("if ", assumption, columns);
  if (prediction.no_effect.size() < prediction.what.size())
    for (const WhatIfItem& item : prediction.what) text += TestedText(predictor, item, columns);
  if (prediction.work != 1)
    text += StrCat("      for the work of one step; a step then does ", FormatNumber(prediction.work, 2),
                   " times as much\n");
  return text;
}

// Returns true if neither time nor memory would change.
bool ChangesNothing(const Prediction& prediction) {
  return prediction.refusal.empty() && prediction.memory.empty() && !prediction.no_effect.empty() &&
         prediction.no_effect.size() == prediction.what.size();
}

// States the error of the prediction and if the measured value is in the interval.
std::string MeasuredText(const Predictor& predictor, const Prediction& prediction, double measured) {
  std::string text = StrCat("measured ", MillisecondsText(StepNs(predictor, measured)), ", ", TimesText(1 / measured));
  if (!prediction.refusal.empty()) return text + "\n";
  const double off = prediction.share.expected / measured - 1;
  return StrCat(text, ": the prediction was ", FormatPercent(std::abs(off)), off < 0 ? " too short" : " too long",
                IsWithin(prediction.share, measured) ? ", and within its interval" : ", and missed its interval", "\n");
}

std::string Percent(double part, double whole) { return FormatPercent(whole > 0 ? part / whole : 0); }

// Owners of the critical path that are listed of each kind.
constexpr size_t kMaxShares = 5;
constexpr int kMinName = 20, kBeforeShare = 12, kBeforeSwept = 46;  // columns that stand before the names

// Divides the critical path by what bounds it, then by operator, kernel, module, thread, stream and collective.
std::string PathText(const DividedPath& divided, int columns) {
  const CriticalPath& path = divided.path;
  std::string text = StrCat("critical path of ", path.parts.size(), " stretches\n"), bounds;
  for (size_t bound = 0; bound < kBounds; ++bound)
    if (path.by_bound[bound] > 0)
      bounds += StrCat(bounds.empty() ? "" : ", ", NameOf(static_cast<Bound>(bound)), " ",
                       Percent(static_cast<double>(path.by_bound[bound]), static_cast<double>(path.total_ns)));
  for (const std::string& line : WrapCut(bounds, columns - 2)) text += StrCat("  ", line, "\n");
  for (size_t owner = 0; owner < kPathOwners; ++owner) {
    const std::vector<PathShare>& shares = divided.by_owner[owner];
    if (shares.empty()) continue;
    text += StrCat("  by ", NameOf(static_cast<PathOwner>(owner)), "\n");
    for (size_t i = 0; i < std::min(shares.size(), kMaxShares); ++i)
      text += StrCat("    ",
                     Padded(Percent(static_cast<double>(shares[i].ns), static_cast<double>(path.total_ns)), 7, false),
                     " ", Ellipsize(Printable(shares[i].name), std::max(columns - kBeforeShare, kMinName)), "\n");
  }
  return text;
}

// Shows the step at decreasing costs of each part; the first cost, the recorded one, is left out.
std::string SweepText(const PredictView& view, int columns) {
  std::string text = StrCat("step when a ", view.sweep_by, " costs 75, 50, 25 and 0 % of what it does\n");
  for (const SweptPart& part : view.sweep) {
    text += "  ";
    for (size_t i = 1; i < part.shares.size(); ++i) text += Padded(FormatPercent(part.shares[i]), 8, false);
    text += StrCat(Padded(MillisecondsText(part.time_ns), 10, false), "  ",
                   Ellipsize(Printable(part.name), std::max(columns - kBeforeSwept, kMinName)), "\n");
  }
  return text;
}

// "176.5 ms (165.0 to 190.0)"; an end that is not known is left out: "at least 165.0 ms".
std::string ScaledText(const ScaleValue& value, const std::function<std::string(double)>& text, std::string_view unit) {
  if (value.expected && value.low && value.high)
    return StrCat(text(*value.expected), unit, " (", text(*value.low), " to ", text(*value.high), ")");
  if (value.low) return StrCat("at least ", text(*value.low), unit);
  return value.high ? StrCat("at most ", text(*value.high), unit) : "unknown";
}

// A line for each number of ranks, and what that assumes.
std::string ScaleText(const ScaleOut& scale, int columns) {
  constexpr size_t kStepWidth = 30;
  std::string text =
      StrCat("simulated from ", scale.recorded, " ranks, each with its batch, 80 % intervals; a collective takes ",
             FormatDuration(std::llround(scale.latency_ns)), " and its bytes at ", FormatNumber(scale.bus_gbps, 1),
             " GB/s\n  ranks  nodes  step", std::string(kStepWidth - 4, ' '), "efficiency\n");
  const auto ms = [](double ns) { return FormatNumber(ns / 1e6, ns < 1e7 ? 3 : 1); };
  const auto percent = [](double share) { return FormatNumber(100 * share, 1); };
  for (const ScalePoint& point : scale.points) {
    const std::string step = ScaledText(point.step_ns, ms, " ms");
    text += StrCat("  ", Padded(StrCat(point.ranks), 5, true), "  ", Padded(StrCat(point.nodes), 5, true), "  ",
                   Padded(step, kStepWidth, false), ScaledText(point.efficiency, percent, " %"), "\n");
    if (!point.unknown.empty()) text += Remark("", point.unknown, columns);
  }
  for (const std::string& assumption : scale.assumptions) text += Remark("if ", assumption, columns);
  return text;
}

}  // namespace

namespace {

// The reason, and what is known without a time: memory.
std::string TextWithoutTime(const PredictView& view, int columns) {
  std::string text =
      StrCat(view.predictions.empty() ? "no prediction: " : "no prediction of time: ", view.why_not, "\n");
  for (const Prediction& prediction : view.predictions)
    text += StrCat("  ", ItemsText(prediction), "  time unknown\n",
                   prediction.memory.empty() ? "      memory unknown\n" : MemoryText(prediction, columns));
  return text;
}

}  // namespace

// A recording that was not accepted gives the reason, and the memory that is known.
std::string PredictText(const PredictView& view, int columns) {
  if (!view.is_accepted()) return TextWithoutTime(view, columns);
  const Predictor& predictor = *view.predictor;
  const std::vector<Prediction>& predictions = view.predictions;
  const SelfCheck& check = predictor.check();
  std::string text = StrCat("a step takes ", MillisecondsText(predictor.step_ns()));
  const auto& typical = predictor.typical_steps();
  if (typical) text += StrCat("\n", typical->Extent(), " stand for all: ", MillisecondsText(check.recorded_step_ns));
  text += StrCat(typical ? ", replayed " : "; replayed ", MillisecondsText(check.replayed_step_ns), " (",
                 check.error >= 0 ? "+" : "-", FormatPercent(std::abs(check.error)), ")\n");
  size_t width = 0;
  for (const Prediction& prediction : predictions) width = std::max(width, ItemsText(prediction).size());
  if (const size_t ranks = predictor.job().ranks.size(); ranks > 1)
    text +=
        StrCat(ranks, ranks < predictor.all_ranks() ? StrCat(" of ", predictor.all_ranks()) : "",
               " ranks replayed together", ranks < predictor.all_ranks() ? ", each for those that work alike\n" : "\n");
  if (!predictor.why_not_together().empty())
    text += StrCat("one rank alone; all together could not be replayed: ", predictor.why_not_together(), "\n");
  int64_t left_out = 0;
  for (const Prediction& prediction : predictions) {
    if (!view.shows_all && ChangesNothing(prediction))
      ++left_out;
    else
      text += Line(predictor, prediction, width, columns);
  }
  if (left_out > 0) text += StrCat("  ", FormatCounted(left_out, "fix", "fixes"), " would change nothing here: -v\n");
  if (view.measured) text += MeasuredText(predictor, predictions[0], *view.measured);
  if (view.path) text += PathText(*view.path, columns);
  if (!view.sweep.empty()) text += SweepText(view, columns);
  if (view.scale) text += ScaleText(*view.scale, columns);
  return text;
}

// Lists what can be predicted, with the safety of each.
std::string WhatIfsText() {
  size_t longest = 0;
  for (const Fix* fix : FixesWithModel()) longest = std::max(longest, ModelUsageOf(*fix).size());
  std::string text;
  for (const Fix* fix : FixesWithModel()) {
    text += StrCat("  ", Padded(ModelUsageOf(*fix), longest + 2, false),
                   Padded(ToString(UsualSafetyOf(*fix)), 12, false), fix->help, "\n");
  }
  return text;
}

}  // namespace gapless::internal
