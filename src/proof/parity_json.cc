// SPDX-License-Identifier: Apache-2.0
#include "proof/parity_json.h"

#include <algorithm>

namespace gapless::internal {

void WriteParityFields(JsonWriter& json, const ParityReport& report) {
  json.Field("verdict", NameOf(report.verdict));
  if (report.verdict == ParityVerdict::kRounding) json.Field("unit", NameOf(report.precision));
  json.Field("reason", report.reason);
  json.Field("steps", report.steps);
  if (!report.test.empty()) json.Field("test", report.test);
  if (report.step) json.Field("step", *report.step);
  if (!report.tensor.empty()) json.Field("tensor", report.tensor);
  if (report.value) json.Field("value", *report.value);
  if (report.limit) json.Field("limit", *report.limit);
}

std::optional<ParityReport> ParityFrom(const JsonValue& value) {
  const std::string name = value.TextOf("verdict");
  for (const auto verdict : {ParityVerdict::kExact, ParityVerdict::kRounding, ParityVerdict::kSameDistribution,
                             ParityVerdict::kOtherTraining, ParityVerdict::kCannotTell}) {
    if (NameOf(verdict) != name) continue;
    ParityReport report{.verdict = verdict, .reason = value.TextOf("reason"), .tensor = value.TextOf("tensor")};
    report.precision = PrecisionNamed(value.TextOf("unit")).value_or(Precision::kFp32);
    report.test = value.TextOf("test");
    report.steps = static_cast<size_t>(std::max<int64_t>(0, value.Get("steps").Int().value_or(0)));
    if (const auto step = value.Get("step").Int(); step && *step > 0) report.step = static_cast<size_t>(*step);
    report.value = value.Get("value").Number();
    report.limit = value.Get("limit").Number();
    return report;
  }
  return std::nullopt;
}

}  // namespace gapless::internal
