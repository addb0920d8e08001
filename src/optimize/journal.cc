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

#include "base/described_json.h"
#include "base/strings.h"
#include "collect/files.h"
#include "proof/described.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<FixOutcome> = static_cast<int64_t>(FixOutcome::kOtherAnswers) + 1;

namespace {

constexpr size_t kMaxBytes = size_t{1} << 26;

// The effect of a stage on the trials after it.
struct StageLine {
  double step_ms = 0;
  std::optional<double> samples_per_second{}, memory_bytes{}, gpu_utilization{}, last_loss{}, metric{};
  static constexpr FieldInfo kFields[] = {
      Field<&StageLine::step_ms>("step_ms", "ms", "mean step"),
      Field<&StageLine::samples_per_second>("samples_per_second", "1/s", "samples a second"),
      Field<&StageLine::memory_bytes>("memory_bytes", "bytes", "peak memory of the GPU"),
      Field<&StageLine::gpu_utilization>("gpu_utilization", "percent", "mean over the GPUs"),
      Field<&StageLine::last_loss>("last_loss", "", "the last loss"),
      Field<&StageLine::metric>("metric", "", "the number of --metric"),
  };
};

struct DecisionLine {
  std::string fix{}, value{}, beside{};
  FixOutcome outcome = FixOutcome::kNoTime;
  std::string reason{};
  std::optional<RatioInterval> predicted{}, measured{};
  bool alone = false;
  size_t pairs = 0;
  bool live = false;
  std::optional<double> detectable{};
  std::optional<documents::Parity> training{};
  std::optional<StageLine> stage{};
  std::optional<double> startup_s{};
  double run_s = 0, took_s = 0;
  std::vector<std::string> changes{};
  static constexpr FieldInfo kFields[] = {
      Field<&DecisionLine::fix>("fix", "", "name of the fix"),
      Field<&DecisionLine::value>("value", "", "its value"),
      Field<&DecisionLine::beside>("beside", "", "fixes that were on"),
      Field<&DecisionLine::outcome>("outcome", "", "what was decided"),
      Field<&DecisionLine::reason>("reason", "", "why, as a sentence"),
      Field<&DecisionLine::predicted>("predicted", "ratio", "predicted speed-up"),
      Field<&DecisionLine::measured>("measured", "ratio", "measured speed-up over the fixes that were on"),
      Field<&DecisionLine::alone>("alone", "", "no other fix was on"),
      Field<&DecisionLine::pairs>("pairs", "count", "pairs of the comparison"),
      Field<&DecisionLine::live>("live", "", "measured in blocks of one process"),
      Field<&DecisionLine::detectable>("detectable", "share", "smallest change that these pairs can detect"),
      Field<&DecisionLine::training>("training", "", "is it the same training?"),
      Field<&DecisionLine::stage>("stage", "", "the job with the fix"),
      Field<&DecisionLine::startup_s>("startup_s", "s", "how much longer the start takes"),
      Field<&DecisionLine::run_s>("run_s", "s", "a run takes"),
      Field<&DecisionLine::took_s>("took_s", "s", "the decision took"),
      Field<&DecisionLine::changes>("changes", "", "what the fix changed, as the agent's JSON"),
  };
};

std::string LineOf(const Decision& decision, const std::string& beside) {
  DecisionLine line{.fix = std::string(decision.item.fix->name),
                    .value = decision.item.value,
                    .beside = beside,
                    .outcome = decision.outcome,
                    .reason = decision.reason,
                    .predicted = decision.predicted,
                    .measured = decision.measured,
                    .alone = decision.alone,
                    .pairs = decision.pairs,
                    .live = decision.live,
                    .detectable = decision.detectable,
                    .startup_s = decision.startup_s,
                    .run_s = decision.run_s,
                    .took_s = decision.took_s};
  if (decision.training) line.training = ParityDocument(*decision.training);
  if (decision.stage)
    line.stage = {.step_ms = decision.stage->step_ms,
                  .samples_per_second = decision.stage->samples_per_second,
                  .memory_bytes = decision.stage->memory_bytes,
                  .gpu_utilization = decision.stage->gpu_utilization,
                  .last_loss = decision.stage->last_loss,
                  .metric = decision.stage->metric};
  for (const Change& change : decision.changes) line.changes.push_back(ToJson(change));
  std::string text;
  JsonWriter json(text);
  WriteJson(json, line);
  return text + "\n";
}

// Returns the decision of a line; nullopt if the fix is not known any more, or if a decision to keep it lacks what
// the next trials build on.
std::optional<Decision> DecisionFrom(const DecisionLine& line, std::span<const Fix> own) {
  Decision decision{.item = {.fix = FindFixWithTrial(line.fix), .value = line.value},
                    .outcome = line.outcome,
                    .reason = line.reason,
                    .predicted = line.predicted,
                    .measured = line.measured,
                    .alone = line.alone,
                    .pairs = line.pairs,
                    .live = line.live,
                    .detectable = line.detectable,
                    .startup_s = line.startup_s,
                    .run_s = line.run_s,
                    .took_s = line.took_s};
  for (const Fix& fix : own)
    if (fix.name == line.fix) decision.item.fix = &fix;
  if (line.training) decision.training = ParityFrom(*line.training);
  if (line.stage)
    decision.stage = Stage{.step_ms = line.stage->step_ms,
                           .samples_per_second = line.stage->samples_per_second,
                           .memory_bytes = line.stage->memory_bytes,
                           .gpu_utilization = line.stage->gpu_utilization,
                           .last_loss = line.stage->last_loss,
                           .metric = line.stage->metric};
  for (const std::string& text : line.changes)
    if (auto change = ParseChange(text, static_cast<int>(ChangeState::kOn)))
      decision.changes.push_back(std::move(*change));
  const bool is_whole = decision.outcome != FixOutcome::kAccepted || (decision.stage && decision.measured);
  return decision.item.fix != nullptr && is_whole ? std::optional(std::move(decision)) : std::nullopt;
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
    const auto read = ReadJson<DecisionLine>(line);
    if (!read) continue;
    if (auto decision = DecisionFrom(*read, own)) journal.entries_.push_back({read->beside, std::move(*decision)});
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
    if (entry.decision.item.fix->trial.choice.slow_start && entry.decision.startup_s)
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
