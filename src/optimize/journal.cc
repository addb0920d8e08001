// SPDX-License-Identifier: Apache-2.0
// Writes decisions as JSON lines and reads them back; a line that cannot be read is ignored.
//
// The first line is the key, which says what is optimised and how. A file with another first line is replaced,
// since its decisions are about something else. Each decision is appended with one write, so a run that is killed
// loses at most the decision it was about. Losses of each step are not kept.
#include "optimize/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "collect/files.h"
#include "proof/parity_json.h"
#include "proof/result_json.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 26;

std::optional<RatioInterval> IntervalFrom(const JsonValue& value) {
  const auto expected = value.Get("expected").Number();
  if (!expected) return std::nullopt;
  return RatioInterval{.low = value.Get("low").Number(), .high = value.Get("high").Number(), .expected = *expected};
}

void WriteStage(JsonWriter& json, const Stage& stage) {
  json.Key("stage");
  json.BeginObject();
  json.Field("step_ms", stage.step_ms);
  json.Field("samples_per_second", stage.samples_per_second);
  json.Field("memory_bytes", stage.memory_bytes);
  json.Field("gpu_utilization", stage.gpu_utilization);
  json.Field("last_loss", stage.last_loss);
  json.Field("metric", stage.metric);
  json.EndObject();
}

Stage StageFrom(const JsonValue& value) {
  return {.step_ms = value.Get("step_ms").Number().value_or(0),
          .samples_per_second = value.Get("samples_per_second").Number(),
          .memory_bytes = value.Get("memory_bytes").Number(),
          .gpu_utilization = value.Get("gpu_utilization").Number(),
          .last_loss = value.Get("last_loss").Number(),
          .metric = value.Get("metric").Number()};
}

void WriteTraining(JsonWriter& json, const std::optional<ParityReport>& training) {
  if (!training) return;
  json.Key("training");
  json.BeginObject();
  WriteParityFields(json, *training);
  json.EndObject();
}

std::string LineOf(const Decision& decision, const std::string& beside) {
  std::string line;
  JsonWriter json(line);
  json.BeginObject();
  json.Field("fix", decision.item.fix->name);
  json.Field("value", decision.item.value);
  json.Field("beside", beside);
  json.Field("outcome", static_cast<int>(decision.outcome));
  json.Field("reason", decision.reason);
  WriteRatio(json, "predicted", decision.predicted);
  WriteRatio(json, "measured", decision.measured);
  json.Field("alone", decision.alone);
  json.Field("pairs", decision.pairs);
  json.Field("live", decision.live);
  json.Field("detectable", decision.detectable);
  WriteTraining(json, decision.training);
  if (decision.stage) WriteStage(json, *decision.stage);
  json.Field("startup_s", decision.startup_s);
  json.Field("run_s", decision.run_s);
  json.Field("took_s", decision.took_s);
  json.Key("changes");
  json.BeginArray();
  for (const Change& change : decision.changes) json.String(ToJson(change));
  json.EndArray();
  json.EndObject();
  return line + "\n";
}

// Returns the decision of a line; nullopt if the fix is not known any more, or if a decision to keep it lacks what
// the next trials build on.
std::optional<Decision> DecisionFrom(const JsonValue& line, std::span<const Fix> own) {
  const std::string name = line.TextOf("fix");
  Decision decision{.item = {.fix = FindFixWithTrial(name), .value = line.TextOf("value")},
                    .reason = line.TextOf("reason")};
  for (const Fix& fix : own)
    if (fix.name == name) decision.item.fix = &fix;
  const int64_t outcome = line.Get("outcome").Int().value_or(-1);
  if (decision.item.fix == nullptr || outcome < 0 || outcome > static_cast<int64_t>(FixOutcome::kTakenOut))
    return std::nullopt;
  decision.outcome = static_cast<FixOutcome>(outcome);
  decision.predicted = IntervalFrom(line.Get("predicted"));
  decision.measured = IntervalFrom(line.Get("measured"));
  decision.alone = line.Get("alone").Bool().value_or(false);
  decision.pairs = static_cast<size_t>(std::max<int64_t>(0, line.Get("pairs").Int().value_or(0)));
  decision.live = line.Get("live").Bool().value_or(false);
  decision.detectable = line.Get("detectable").Number();
  decision.training = ParityFrom(line.Get("training"));
  if (line.Get("stage").is_object()) decision.stage = StageFrom(line.Get("stage"));
  decision.startup_s = line.Get("startup_s").Number();
  decision.run_s = line.Get("run_s").Number().value_or(0);
  decision.took_s = line.Get("took_s").Number().value_or(0);
  for (const JsonValue& text : line.Get("changes").items())
    if (text.Text() != nullptr)
      if (auto change = ParseChange(*text.Text(), static_cast<int>(ChangeState::kOn)))
        decision.changes.push_back(std::move(*change));
  const bool whole = decision.outcome != FixOutcome::kAccepted || (decision.stage && decision.measured);
  return whole ? std::optional(std::move(decision)) : std::nullopt;
}

}  // namespace

Result<DecisionJournal> DecisionJournal::Open(std::string path, const std::string& key, bool anew,
                                              std::span<const Fix> own) {
  DecisionJournal journal;
  journal.path_ = std::move(path);
  std::string head;
  JsonWriter json(head);
  json.BeginObject();
  json.Field("gapless_optimize", key);
  json.EndObject();
  head += "\n";
  const std::string text = anew ? "" : ContentOf(journal.path_, kMaxBytes);
  if (!text.starts_with(head)) {
    GAPLESS_TRY(WriteFileAtomically(journal.path_, head, 0600));
    return journal;
  }
  const std::string_view rest = std::string_view(text).substr(head.size());
  // Text behind the last line end is a write that was broken off.
  for (const std::string_view line : Split(rest.substr(0, rest.rfind('\n') + 1), '\n')) {
    const auto value = JsonValue::Parse(line);
    if (!value || !value->is_object()) continue;
    if (auto decision = DecisionFrom(*value, own))
      journal.entries_.push_back({value->TextOf("beside"), std::move(*decision)});
  }
  journal.found_ = journal.entries_.size();
  return journal;
}

// Linear in the entries, which are a few dozen.
const Decision* DecisionJournal::Find(const FixItem& item, const FixSet& beside) const {
  for (const Entry& entry : entries_)
    if (entry.decision.item.fix == item.fix && entry.decision.item.value == item.value &&
        entry.beside == beside.ToString())
      return &entry.decision;
  return nullptr;
}

std::optional<double> DecisionJournal::SlowStartS() const {
  std::optional<double> latest_s;
  for (const Entry& entry : entries_)
    if (entry.decision.item.fix->trial.slow_start && entry.decision.startup_s)
      latest_s = std::max(0.0, *entry.decision.startup_s);
  return latest_s;
}

void DecisionJournal::Add(const Decision& decision, const FixSet& beside) {
  if (Find(decision.item, beside) != nullptr) return;
  entries_.push_back({beside.ToString(), decision});
  const std::string line = LineOf(decision, beside.ToString());
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if ((!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) && failure_.empty())
    failure_ = StrCat("what was decided cannot be kept in ", path_, ": ", std::strerror(errno));
}

}  // namespace gapless::internal
