// SPDX-License-Identifier: Apache-2.0
// Implements the diagnosis of a run, as values and as a report.
//
// Names of rules and formats come from outside, so they are checked here before a renderer sees them: an unknown name
// is a usage error that suggests the nearest known one. Prices and counts must be finite and above 0. The width is
// bounded without an error, because a renderer can always draw something.
#include <algorithm>
#include <cmath>

#include "api/run_state.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "gapless/run.h"
#include "report/renderer.h"

namespace gapless {
namespace {

// Returns the error for a name that is not among the known ones; if none is near it, the hint lists them all.
Unexpected NoSuch(std::string_view what, std::string_view given, const std::vector<std::string_view>& known) {
  const std::string_view nearest = internal::Nearest(given, known);
  std::string hint = nearest.empty() ? "there are:" : internal::StrCat("did you mean ", nearest, "?");
  if (nearest.empty())
    for (const std::string_view text : known) hint += internal::StrCat(" ", text);
  return internal::Fail(ErrorCode::kUsage,
                        internal::StrCat("there is no ", what, " '", internal::Printable(given), "'"), "",
                        std::move(hint));
}

// Refuses ids of rules that do not exist: a misspelt one would hide every finding.
Result<void> CheckRules(const std::vector<std::string>& ids) {
  std::vector<std::string_view> known;
  for (const internal::Rule* rule : internal::AllRules()) known.push_back(rule->id);
  for (const std::string& id : ids)
    if (std::find(known.begin(), known.end(), id) == known.end()) return NoSuch("rule", id, known);
  return {};
}

Result<void> CheckAboveZero(std::string_view name, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return {};
  return internal::Fail(ErrorCode::kUsage, internal::StrCat(name, " must be a number above 0"));
}

std::optional<double> AsReal(std::optional<int64_t> value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

// Returns the first option that cannot be used.
Result<void> Check(const AnalyzeOptions& options) {
  GAPLESS_TRY(CheckRules(options.only));
  GAPLESS_TRY(CheckRules(options.without));
  GAPLESS_TRY(CheckAboveZero("single_step_ns", AsReal(options.single_step_ns)));
  GAPLESS_TRY(CheckAboveZero("price_per_gpu_hour", options.rates.price_per_gpu_hour));
  GAPLESS_TRY(CheckAboveZero("carbon_g_per_kwh", options.rates.carbon_g_per_kwh));
  GAPLESS_TRY(CheckAboveZero("watts_per_gpu", options.rates.watts_per_gpu));
  GAPLESS_TRY(CheckAboveZero("gpus", AsReal(options.rates.gpus)));
  GAPLESS_TRY(CheckAboveZero("steps_per_epoch", AsReal(options.rates.steps_per_epoch)));
  return CheckAboveZero("hours_per_month", options.rates.hours_per_month);
}

}  // namespace

std::vector<Bottleneck> Run::Diagnose() const { return state_->analysis.diagnosis().bottlenecks; }

std::vector<Error> Run::RuleFailures() const {
  std::vector<Error> all;
  // The place becomes the id of the rule; the diagnosis has no other place to name.
  for (const internal::Diagnosis::Failure& failure : state_->analysis.diagnosis().failures) {
    all.push_back(failure.error);
    all.back().place = failure.rule;
  }
  return all;
}

RunSummary Run::Summary(std::optional<int64_t> single_step_ns) const {
  return state_->analysis.advice().Conclude({.single_step_ns = single_step_ns}).summary;
}

std::vector<FormatInfo> Run::Formats() {
  std::vector<FormatInfo> all;
  for (const internal::Renderer* renderer : internal::AllRenderers())
    all.push_back({std::string(renderer->name), std::string(renderer->help)});
  return all;
}

Result<std::string> Run::Render(std::string_view format, const RenderOptions& look,
                                const AnalyzeOptions& options) const {
  const internal::Renderer* renderer = internal::FindRenderer(format);
  if (renderer == nullptr) {
    std::vector<std::string_view> names;
    for (const internal::Renderer* renderer : internal::AllRenderers()) names.push_back(renderer->name);
    return NoSuch("form of report", format, names);
  }
  GAPLESS_TRY(Check(options));
  const internal::RunReport report(state_->analysis, options);
  RenderOptions bounded = look;
  bounded.width = std::clamp(look.width, internal::kMinReportWidth, internal::kMaxReportWidth);
  return renderer->render(report.report(), bounded);
}

}  // namespace gapless
