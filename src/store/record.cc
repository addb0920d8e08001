// SPDX-License-Identifier: Apache-2.0
// Checks a record before it is stored: texts are cleaned and bounded, metric names are unique, and values are finite.
// Secrets in the command and the environment are redacted here, so that no way into the history passes them.
#include "store/record.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/redact.h"
#include "base/strings.h"
#include "base/timestamp.h"
#include "store/rows.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kSamplings[] = {"unknown", "process", "iteration"};
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Replaces each byte that is not part of valid UTF-8, and each zero byte, by U+FFFD: PostgreSQL stores neither.
std::string Clean(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = text.front() == '\0' ? 0 : Utf8SequenceLength(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// Returns the error for NaN and infinities, which mean "not measured" and would spoil every mean.
Unexpected NotFinite(const MetricRecord& metric, double value) {
  return Fail(ErrorCode::kInput, StrCat("the metric '", Printable(metric.name), "' is not a number: ", value), "",
              "leave out what was not measured");
}

Result<void> CheckMetric(MetricRecord& metric, std::set<std::string>& seen) {
  GAPLESS_TRY(CleanText(metric.name, "name of a metric", kLongestName));
  GAPLESS_TRY(CleanText(metric.unit, "unit of a metric", kLongestName));
  if (metric.name.empty()) return Fail(ErrorCode::kInput, "a metric without a name");
  if (!seen.insert(metric.name).second)
    return Fail(ErrorCode::kInput, StrCat("the metric '", Printable(metric.name), "' is given twice"));
  if (!std::isfinite(metric.value)) return NotFinite(metric, metric.value);
  for (const double sample : metric.samples)
    if (!std::isfinite(sample)) return NotFinite(metric, sample);
  return {};
}

}  // namespace

std::string_view NameOf(Sampling sampling) { return kSamplings[static_cast<size_t>(sampling)]; }

Sampling SamplingFrom(std::string_view name) {
  const auto* const found = std::find(std::begin(kSamplings), std::end(kSamplings), name);
  return found == std::end(kSamplings) ? Sampling::kUnknown : static_cast<Sampling>(found - std::begin(kSamplings));
}

const MetricRecord* BenchmarkRecord::Find(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &MetricRecord::name);
  return found == metrics.end() ? nullptr : &*found;
}

Result<void> CleanText(std::string& text, std::string_view what, size_t longest) {
  text = Clean(text);
  if (text.size() <= longest) return {};
  return Fail(ErrorCode::kInput, StrCat("the ", what, " is too long: ", text.size(), " bytes, at most ", longest),
              Ellipsize(text, 60));
}

Result<BenchmarkRecord> Prepared(BenchmarkRecord record) {
  const std::pair<std::string*, std::string_view> names[] = {{&record.uid, "uid"},
                                                             {&record.commit_sha, "commit"},
                                                             {&record.branch, "name of the branch"},
                                                             {&record.benchmark, "name of the benchmark"}};
  for (const auto& [text, what] : names) GAPLESS_TRY(CleanText(*text, what, kLongestName));
  const std::pair<std::string*, std::string_view> texts[] = {
      {&record.command, "command"},   {&record.host, "name of the host"},  {&record.fingerprint, "fingerprint"},
      {&record.gpu_type, "GPU type"}, {&record.framework, "framework"},    {&record.driver, "driver"},
      {&record.source, "source"},     {&record.environment, "environment"}};
  for (const auto& [text, what] : texts) GAPLESS_TRY(CleanText(*text, what, kLongestText));
  record.command = RedactCommandLine(record.command);
  record.environment = RedactText(record.environment);
  std::set<std::string> seen;
  for (MetricRecord& metric : record.metrics) GAPLESS_TRY(CheckMetric(metric, seen));
  if (record.uid.empty()) record.uid = NewUid();
  const int64_t now_ns = UnixTimeNs();
  if (!record.recorded_unix_ns) record.recorded_unix_ns = now_ns;
  for (VerdictRecord& verdict : record.verdicts) {
    GAPLESS_TRY(CleanText(verdict.metric, "name of a metric", kLongestName));
    GAPLESS_TRY(CleanText(verdict.kind, "kind of a verdict", kLongestName));
    GAPLESS_TRY(CleanText(verdict.detail, "detail of a verdict", kLongestText));
    if (verdict.kind.empty()) return Fail(ErrorCode::kInput, "a verdict without a kind");
    if (verdict.recorded_unix_ns == 0) verdict.recorded_unix_ns = now_ns;
  }
  return record;
}

}  // namespace gapless::internal
