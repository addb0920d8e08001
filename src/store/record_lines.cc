// SPDX-License-Identifier: Apache-2.0
// Writes and reads records and tested predictions as JSON lines. Each line says its kind and its version.
#include "store/record_lines.h"

#include "base/described_json.h"
#include "base/version.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<Sampling> = static_cast<int64_t>(Sampling::kIteration) + 1;

template <>
struct Described<MetricRecord> {
  using M = MetricRecord;
  static constexpr FieldInfo kFields[] = {
      Field<&M::name>("name", "", "what was measured"),
      Field<&M::value>("value", "", "its value"),
      Field<&M::unit>("unit", "", "unit of the value", kUnlessEmpty),
      Field<&M::higher_is_better>("higher_is_better", "", "which way is better; missing: not known"),
      Field<&M::sampling>("sampling", "", "what one sample is; missing: not known", kUnlessEmpty),
      Field<&M::samples>("samples", "", "in the order they were measured", kUnlessEmpty),
  };
};
template <>
struct Described<VerdictRecord> {
  using V = VerdictRecord;
  static constexpr FieldInfo kFields[] = {
      Field<&V::recorded_unix_ns>("recorded_unix_ns", "ns", "when it was given", kUnlessEmpty),
      Field<&V::metric>("metric", "", "missing: of the whole run", kUnlessEmpty),
      Field<&V::kind>("kind", "", "pending, confirmed, withdrawn"),
      Field<&V::detail>("detail", "", "what led to it, as JSON", kUnlessEmpty),
  };
};
template <>
struct Described<BenchmarkRecord> {
  using R = BenchmarkRecord;
  static constexpr FieldInfo kFields[] = {
      Hidden<&R::id>(),  // belongs to one database
      Field<&R::uid>("uid", "", "the same in every database", kUnlessEmpty),
      Field<&R::commit_sha>("commit_sha", "", "commit that was measured", kUnlessEmpty),
      Field<&R::branch>("branch", "", "its branch", kUnlessEmpty),
      Field<&R::benchmark>("benchmark", "", "benchmark, where a history holds several", kUnlessEmpty),
      Field<&R::command>("command", "", "command that was measured", kUnlessEmpty),
      Field<&R::host>("host", "", "machine", kUnlessEmpty),
      Field<&R::fingerprint>("fingerprint", "", "what the machine is made of", kUnlessEmpty),
      Field<&R::gpu_type>("gpu_type", "", "GPU", kUnlessEmpty),
      Field<&R::framework>("framework", "", "framework and its version", kUnlessEmpty),
      Field<&R::driver>("driver", "", "version of the GPU's driver", kUnlessEmpty),
      Field<&R::environment>("environment", "", "further facts, as JSON", kUnlessEmpty),
      Field<&R::source>("source", "", "tool whose file it was", kUnlessEmpty),
      Field<&R::ledger>("ledger", "", "account of a step, as JSON", kUnlessEmpty),
      Field<&R::recorded_unix_ns>("recorded_unix_ns", "ns", "when it was measured"),
      Field<&R::author_unix_ns>("author_unix_ns", "ns", "when the commit was written"),
      Field<&R::num_gpus>("num_gpus", "", "GPUs"),
      Field<&R::batch_size>("batch_size", "", "samples of a step"),
      Field<&R::dirty>("dirty", "", "the checkout differed from the commit"),
      Field<&R::metrics>("metrics", "", "what was measured"),
      Field<&R::verdicts>("verdicts", "", "verdicts on it", kUnlessEmpty),
  };
};
template <>
struct Described<AdviceRecord> {
  using A = AdviceRecord;
  static constexpr FieldInfo kFields[] = {
      Field<&A::uid>("uid", "", "the same in every database", kUnlessEmpty),
      Field<&A::what>("what", "", "what was predicted, as predict --what takes it", kUnlessEmpty),
      Field<&A::kind>("kind", "", "the same without values", kUnlessEmpty),
      Field<&A::recording>("recording", "", "recording it was predicted from", kUnlessEmpty),
      Field<&A::source>("source", "", "command that tested it", kUnlessEmpty),
      Field<&A::recorded_unix_ns>("recorded_unix_ns", "ns", "when it was tested"),
      Field<&A::measured>("measured", "ratio", "measured speedup"),
      Field<&A::low>("low", "ratio", "predicted speedup, lower end"),
      Field<&A::expected>("expected", "ratio", "predicted speedup"),
      Field<&A::high>("high", "ratio", "predicted speedup, upper end"),
  };
};

namespace {

constexpr std::string_view kRecordLine = "gapless_history", kAdviceLine = "gapless_advice";
constexpr int64_t kLineVersion = 1;

// The version of a line of this kind; an error: it is of another kind, or of a newer gapless.
Result<void> CheckVersion(const JsonValue& json, std::string_view kind) {
  const auto version = json.Get(kind).Int();
  if (!version) return Fail(ErrorCode::kInput, "this is no line of an exported history", "", "gapless history export");
  if (*version > kLineVersion) return FromAnotherVersion("this line of an exported history", *version, kLineVersion);
  return {};
}

template <class T>
Result<T> FromJson(const JsonValue& json, std::string_view kind) {
  GAPLESS_TRY(CheckVersion(json, kind));
  return ReadJson<T>(json);
}
template <class T>
Result<T> FromLine(std::string_view line, std::string_view kind) {
  GAPLESS_ASSIGN(const auto json, JsonValue::Parse(line));
  return FromJson<T>(json, kind);
}
template <class T>
std::string LineOf(const T& record, std::string_view kind) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field(kind, kLineVersion);
  WriteFields(json, record);
  json.EndObject();
  return out;
}

}  // namespace

std::string LineOf(const BenchmarkRecord& record) { return LineOf(record, kRecordLine); }
std::string LineOf(const AdviceRecord& advice) { return LineOf(advice, kAdviceLine); }
Result<BenchmarkRecord> RecordFromLine(std::string_view line) { return FromLine<BenchmarkRecord>(line, kRecordLine); }
Result<AdviceRecord> AdviceFromLine(std::string_view line) { return FromLine<AdviceRecord>(line, kAdviceLine); }

Result<std::variant<BenchmarkRecord, AdviceRecord>> AnyFromLine(std::string_view line) {
  using Any = std::variant<BenchmarkRecord, AdviceRecord>;
  GAPLESS_ASSIGN(const auto json, JsonValue::Parse(line));
  if (json.Get(kAdviceLine).kind() == JsonValue::Kind::kNull) {
    GAPLESS_ASSIGN(auto record, FromJson<BenchmarkRecord>(json, kRecordLine));
    return Any(std::move(record));
  }
  GAPLESS_ASSIGN(auto advice, FromJson<AdviceRecord>(json, kAdviceLine));
  return Any(std::move(advice));
}

}  // namespace gapless::internal
