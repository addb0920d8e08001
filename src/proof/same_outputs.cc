// SPDX-License-Identifier: Apache-2.0
// Implements OutputParity, and reads events.jsonl and numbers.f64 of
// python/gapless/agent/gapless_agent/parity/outputs.py. Counts in the file are checked against the numbers present
// before memory is allocated.
#include "proof/same_outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/json_value.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostProbes = 3;  // that one decision may need
constexpr size_t kMostEventBytes = size_t{1} << 28, kMostNumberBytes = size_t{1} << 31;
constexpr std::string_view kUnchanged = "baseline", kChanged = "candidate", kProbe = "probe-";

// The noise of a probe, in the name of its folder: "probe-20" is 2^-20.
std::string NameOfNoise(double noise) { return StrCat(kProbe, std::llround(-std::log2(noise))); }

double NoiseNamed(std::string_view name) {
  for (const auto precision :
       {Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16, Precision::kInt8})
    if (NameOfNoise(UnitOf(precision)) == name) return UnitOf(precision);
  return 0;
}

// Takes the samples of a tensor from `numbers`; returns false if there are fewer.
bool TakeTensor(const JsonValue& value, std::string_view& numbers, TensorRecord& tensor) {
  tensor.name = value.TextOf("name");
  tensor.type = value.TextOf("type");
  for (const JsonValue& size : value.Get("shape").items())
    tensor.shape += StrCat(tensor.shape.empty() ? "(" : ", ", size.Int().value_or(0));
  tensor.shape = tensor.shape.empty() ? "()" : StrCat(tensor.shape, ")");
  tensor.whole = value.Get("whole").Bool().value_or(false);
  tensor.code = static_cast<uint32_t>(std::clamp<int64_t>(value.Get("code").Int().value_or(0), 0, UINT32_MAX));
  tensor.finite = value.Get("finite").Bool().value_or(true);
  const auto count = static_cast<size_t>(std::max<int64_t>(0, value.Get("samples").Int().value_or(0)));
  if (numbers.size() / sizeof(double) < count) return false;
  tensor.samples.resize(count);
  if (count > 0) std::memcpy(tensor.samples.data(), numbers.data(), count * sizeof(double));
  numbers.remove_prefix(count * sizeof(double));
  return true;
}

bool TakeTensors(const JsonValue& values, std::string_view& numbers, std::vector<TensorRecord>& tensors) {
  for (const JsonValue& value : values.items())
    if (!TakeTensor(value, numbers, tensors.emplace_back())) return false;
  return true;
}

int RankOf(ParityVerdict verdict) {
  return verdict == ParityVerdict::kOtherTraining ? 0
         : verdict == ParityVerdict::kCannotTell  ? 1
         : verdict == ParityVerdict::kExact       ? 3
                                                  : 2;
}

}  // namespace

Result<OutputRecording> ReadOutputRecording(const std::string& folder) {
  const std::string path = StrCat(folder, "/events.jsonl"), events = ContentOf(path, kMostEventBytes);
  const std::string content = ContentOf(StrCat(folder, "/numbers.f64"), kMostNumberBytes);
  std::string_view numbers = content;
  OutputRecording calls;
  const std::vector<std::string_view> lines = Split(events, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto line = JsonValue::Parse(lines[i]);
    const bool last = i + 1 == lines.size();  // what was cut off has no end of line
    if (!line && last) break;
    if (!line || !line->is_object())
      return Fail(ErrorCode::kInput, "this is not a call of a recording", StrCat(path, ":", i + 1),
                  line ? "" : line.error().message);
    CallRecord call{.goes_on = line->Get("goes_on").Bool().value_or(false)};
    if (!TakeTensors(line->Get("inputs"), numbers, call.inputs) ||
        !TakeTensors(line->Get("outputs"), numbers, call.outputs))
      break;
    for (const JsonValue& choice : line->Get("choices").items()) call.choices.push_back(choice.Int().value_or(-1));
    calls.push_back(std::move(call));
  }
  return calls;
}

Result<OutputParity> OutputParity::Make(const OutputPlan& plan, RunUnchanged run) {
  GAPLESS_ASSIGN(auto folder, TemporaryFolder::Make());
  return OutputParity(plan, std::move(run), std::move(folder));
}

ParityOptions OutputParity::OptionsFor(std::string_view role, std::string_view name) const {
  ParityOptions options{.role = std::string(role), .folder = StrCat(folder_.path(), "/", name), .steps = plan_.calls};
  options.seconds = plan_.seconds;
  return options;
}

ParityOptions OutputParity::BaselineOptions() const { return OptionsFor(kUnchanged, kUnchanged); }

ParityOptions OutputParity::ProbeOf(double noise) const {
  ParityOptions options = OptionsFor("probe", NameOfNoise(noise));
  options.noise = noise;
  return options;
}

ParityOptions OutputParity::ProbeOptions(Precision precision) const { return ProbeOf(UnitOf(precision)); }

ParityOptions OutputParity::CandidateOptions() {
  std::error_code error;
  std::filesystem::remove_all(StrCat(folder_.path(), "/", kChanged), error);
  return OptionsFor(kChanged, kChanged);
}

// Reads the recordings of the unchanged command that were made since the last time.
Result<void> OutputParity::Load() {
  for (const std::string& name : NamesIn(folder_.path())) {
    if (name == kChanged || loaded_[name]) continue;
    loaded_[name] = true;
    for (const std::string& rank : NamesIn(StrCat(folder_.path(), "/", name))) {
      GAPLESS_ASSIGN(auto calls, ReadOutputRecording(StrCat(folder_.path(), "/", name, "/", rank)));
      if (name == kUnchanged)
        ranks_[rank].calls = std::move(calls);
      else
        ranks_[rank].probes.push_back({.noise = NoiseNamed(name), .calls = std::move(calls)});
    }
  }
  return {};
}

Result<ParityReport> OutputParity::JudgeRanks(Precision claim) {
  GAPLESS_TRY(Load());
  std::optional<ParityReport> worst;
  for (const auto& [rank, known] : ranks_) {
    GAPLESS_ASSIGN(const auto candidate, ReadOutputRecording(StrCat(folder_.path(), "/", kChanged, "/", rank)));
    ParityReport report = DecideOutputs(known, candidate, claim);
    if (ranks_.size() > 1 && !report.reason.empty()) report.reason = StrCat(rank, ": ", report.reason);
    if (report.need != ParityNeed::kNothing) return report;
    if (!worst || RankOf(report.verdict) < RankOf(worst->verdict)) worst = std::move(report);
  }
  return worst ? *worst : DecideOutputs({}, {}, claim);
}

Result<ParityReport> OutputParity::Judge(Precision claim) {
  for (size_t runs = 0; runs < kMostProbes; ++runs) {
    auto report = JudgeRanks(claim);
    if (!report || report->need == ParityNeed::kNothing) return report;
    const ParityOptions options = ProbeOf(report->need_noise);
    const auto sample = run_(options);
    if (!sample && sample.error().code == ErrorCode::kInterrupted) return Unexpected{sample.error()};
    if (!sample || NamesIn(options.folder).empty()) break;
  }
  return ParityReport{.reason =
                          "cannot tell: a run of the command as it is with noise on its weights recorded nothing"};
}

}  // namespace gapless::internal
