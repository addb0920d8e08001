// SPDX-License-Identifier: Apache-2.0
// Writes and reads records and tested predictions as JSON lines. Each line says its kind and its version.
#include "store/record_lines.h"

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kRecordLine = "gapless_history", kAdviceLine = "gapless_advice";
constexpr int64_t kLineVersion = 1;

// Members that are written and read alike; the key is the name in JSON.
struct TextField {
  std::string_view key;
  std::string BenchmarkRecord::*member;
};
constexpr TextField kTexts[] = {
    {"uid", &BenchmarkRecord::uid},
    {"commit_sha", &BenchmarkRecord::commit_sha},
    {"branch", &BenchmarkRecord::branch},
    {"benchmark", &BenchmarkRecord::benchmark},
    {"command", &BenchmarkRecord::command},
    {"host", &BenchmarkRecord::host},
    {"fingerprint", &BenchmarkRecord::fingerprint},
    {"gpu_type", &BenchmarkRecord::gpu_type},
    {"framework", &BenchmarkRecord::framework},
    {"driver", &BenchmarkRecord::driver},
    {"environment", &BenchmarkRecord::environment},
    {"source", &BenchmarkRecord::source},
    {"ledger", &BenchmarkRecord::ledger},
};
struct NumberField {
  std::string_view key;
  std::optional<int64_t> BenchmarkRecord::*member;
};
constexpr NumberField kNumbers[] = {
    {"recorded_unix_ns", &BenchmarkRecord::recorded_unix_ns},
    {"author_unix_ns", &BenchmarkRecord::author_unix_ns},
    {"num_gpus", &BenchmarkRecord::num_gpus},
    {"batch_size", &BenchmarkRecord::batch_size},
};

struct AdviceText {
  std::string_view key;
  std::string AdviceRecord::*member;
};
constexpr AdviceText kAdviceTexts[] = {
    {"uid", &AdviceRecord::uid},       {"what", &AdviceRecord::what},
    {"kind", &AdviceRecord::kind},     {"recording", &AdviceRecord::recording},
    {"source", &AdviceRecord::source},
};
struct AdviceShare {
  std::string_view key;
  double AdviceRecord::*member;
};
constexpr AdviceShare kAdviceShares[] = {
    {"measured", &AdviceRecord::measured},
    {"low", &AdviceRecord::low},
    {"expected", &AdviceRecord::expected},
    {"high", &AdviceRecord::high},
};

// Writes a metric without the members that are absent.
void WriteMetric(JsonWriter& json, const MetricRecord& metric) {
  json.BeginObject();
  json.Field("name", metric.name);
  json.Field("value", metric.value);
  json.FieldUnlessEmpty("unit", metric.unit);
  json.Field("higher_is_better", metric.higher_is_better);
  if (metric.sampling != Sampling::kUnknown) json.Field("sampling", NameOf(metric.sampling));
  if (!metric.samples.empty()) {
    json.Key("samples");
    json.BeginArray();
    for (const double sample : metric.samples) json.Real(sample);
    json.EndArray();
  }
  json.EndObject();
}

Result<MetricRecord> MetricFrom(const JsonValue& value) {
  MetricRecord metric;
  metric.name = value.TextOf("name");
  const auto number = value.Get("value").Number();
  if (!number) return Fail(ErrorCode::kInput, StrCat("the metric '", Printable(metric.name), "' has no value"));
  metric.value = *number;
  metric.unit = value.TextOf("unit");
  metric.higher_is_better = value.Get("higher_is_better").Bool();
  metric.sampling = SamplingFrom(value.TextOf("sampling"));
  for (const JsonValue& sample : value.Get("samples").items()) {
    const auto one = sample.Number();
    if (!one) return Fail(ErrorCode::kInput, StrCat("a sample of '", Printable(metric.name), "' is not a number"));
    metric.samples.push_back(*one);
  }
  return metric;
}

// The version of a line of this kind; an error: it is of another kind, or of a newer gapless.
Result<void> CheckVersion(const JsonValue& json, std::string_view kind) {
  const auto version = json.Get(kind).Int();
  if (!version) return Fail(ErrorCode::kInput, "this is no line of an exported history", "", "gapless history export");
  if (*version > kLineVersion) return FromAnotherVersion("this line of an exported history", *version, kLineVersion);
  return {};
}

Result<BenchmarkRecord> RecordFrom(const JsonValue& json) {
  GAPLESS_TRY(CheckVersion(json, kRecordLine));
  BenchmarkRecord record;
  for (const TextField& field : kTexts) record.*field.member = json.TextOf(field.key);
  for (const NumberField& field : kNumbers) record.*field.member = json.Get(field.key).Int();
  record.dirty = json.Get("dirty").Bool();
  for (const JsonValue& value : json.Get("metrics").items()) {
    GAPLESS_ASSIGN(auto metric, MetricFrom(value));
    record.metrics.push_back(std::move(metric));
  }
  for (const JsonValue& verdict : json.Get("verdicts").items())
    record.verdicts.push_back({verdict.Get("recorded_unix_ns").Int().value_or(0), verdict.TextOf("metric"),
                               verdict.TextOf("kind"), verdict.TextOf("detail")});
  return record;
}

Result<AdviceRecord> AdviceFrom(const JsonValue& json) {
  GAPLESS_TRY(CheckVersion(json, kAdviceLine));
  AdviceRecord advice;
  for (const AdviceText& field : kAdviceTexts) advice.*field.member = json.TextOf(field.key);
  for (const AdviceShare& field : kAdviceShares) advice.*field.member = json.Get(field.key).Number().value_or(0);
  advice.recorded_unix_ns = json.Get("recorded_unix_ns").Int().value_or(0);
  return advice;
}

}  // namespace

std::string LineOf(const BenchmarkRecord& record) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field(kRecordLine, kLineVersion);
  for (const TextField& field : kTexts) json.FieldUnlessEmpty(field.key, record.*field.member);
  for (const NumberField& field : kNumbers) json.Field(field.key, record.*field.member);
  json.Field("dirty", record.dirty);
  json.Key("metrics");
  json.BeginArray();
  for (const MetricRecord& metric : record.metrics) WriteMetric(json, metric);
  json.EndArray();
  if (!record.verdicts.empty()) {
    json.Key("verdicts");
    json.BeginArray();
    for (const VerdictRecord& verdict : record.verdicts) {
      json.BeginObject();
      json.Field("recorded_unix_ns", verdict.recorded_unix_ns);
      json.FieldUnlessEmpty("metric", verdict.metric);
      json.Field("kind", verdict.kind);
      json.FieldUnlessEmpty("detail", verdict.detail);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  return out;
}

Result<BenchmarkRecord> RecordFromLine(std::string_view line) {
  const auto json = JsonValue::Parse(line);
  return json ? RecordFrom(*json) : Unexpected{json.error()};
}

std::string LineOf(const AdviceRecord& advice) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field(kAdviceLine, kLineVersion);
  for (const AdviceText& field : kAdviceTexts) json.FieldUnlessEmpty(field.key, advice.*field.member);
  json.Field("recorded_unix_ns", advice.recorded_unix_ns);
  for (const AdviceShare& field : kAdviceShares) json.Field(field.key, advice.*field.member);
  json.EndObject();
  return out;
}

Result<AdviceRecord> AdviceFromLine(std::string_view line) {
  const auto json = JsonValue::Parse(line);
  return json ? AdviceFrom(*json) : Unexpected{json.error()};
}

Result<std::variant<BenchmarkRecord, AdviceRecord>> AnyFromLine(std::string_view line) {
  using Any = std::variant<BenchmarkRecord, AdviceRecord>;
  GAPLESS_ASSIGN(const auto json, JsonValue::Parse(line));
  if (json.Get(kAdviceLine).kind() == JsonValue::Kind::kNull) {
    auto record = RecordFrom(json);
    return record ? Result<Any>(std::move(*record)) : Unexpected{record.error()};
  }
  auto advice = AdviceFrom(json);
  return advice ? Result<Any>(std::move(*advice)) : Unexpected{advice.error()};
}

}  // namespace gapless::internal
