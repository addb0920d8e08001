// SPDX-License-Identifier: Apache-2.0
// Parses events.jsonl, numbers.f64 and program.json. Counts in the file are checked against the numbers present before
// memory is allocated.
#include "proof/parity_files.h"

#include <algorithm>
#include <cstring>

#include "base/json_value.h"
#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxEventBytes = size_t{1} << 28, kMaxNumberBytes = size_t{1} << 31;
constexpr size_t kMaxProgramBytes = size_t{1} << 24;
constexpr size_t kMaxTensors = size_t{1} << 20;
constexpr size_t kPrintBytes = (1 + kSketchWidth) * sizeof(double);

// Returns a checksum of 32 bits; absent if the agent wrote none.
std::optional<uint32_t> CodeOf(const JsonValue& value) {
  const auto number = value.Int();
  return number && *number >= 0 && *number <= UINT32_MAX ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

size_t CountOf(const JsonValue& value) {
  return static_cast<size_t>(std::clamp<int64_t>(value.Int().value_or(0), 0, kMaxTensors));
}

std::vector<std::string> TextsOf(const JsonValue& value) {
  std::vector<std::string> texts;
  for (const JsonValue& item : value.items()) texts.push_back(item.Text() != nullptr ? *item.Text() : "");
  return texts;
}

// Reads one event; a missing field keeps its default, as older agents do not write all of them.
ParityEvent EventFrom(const JsonValue& line) {
  ParityEvent event{.optimizer = CountOf(line.Get("optimizer")), .optimizer_class = line.TextOf("class")};
  for (const JsonValue& group : line.Get("settings").items()) {
    auto& settings = event.settings.emplace_back();
    for (size_t i = 0; i < group.keys().size(); ++i) settings[group.keys()[i]] = ToJson(group.items()[i]);
  }
  for (const JsonValue& index : line.Get("missing").items()) event.missing.push_back(CountOf(index));
  std::ranges::sort(event.missing);
  event.samples = line.Get("samples").Int();
  event.rows = CodeOf(line.Get("rows"));
  event.order = CodeOf(line.Get("order"));
  event.random = CodeOf(line.Get("random"));
  event.start = CodeOf(line.Get("start"));
  event.state = CodeOf(line.Get("state"));
  for (const JsonValue& value : line.Get("inputs").items()) event.inputs.push_back(value.Number().value_or(0));
  event.draws = line.Get("draws").Bool().value_or(false);
  for (const JsonValue& loss : line.Get("losses").items()) event.losses.push_back(loss.Number());
  event.finite = line.Get("finite").Bool().value_or(true);
  if (line.Get("shadow").is_array()) {
    auto& residuals = event.shadow.emplace();
    for (const JsonValue& residual : line.Get("shadow").items()) residuals.push_back(residual.Number().value_or(0));
  }
  event.no_shadow = line.TextOf("no_shadow");
  event.skipped = line.Get("skipped").Bool().value_or(false);
  event.handed = line.Get("handed").Bool().value_or(false);
  event.recurrent = line.Get("recurrent").Bool().value_or(false);
  event.by_hand = line.Get("by_hand").Bool().value_or(false);
  event.precision = PrecisionNamed(line.TextOf("precision"));
  event.names = TextsOf(line.Get("names"));
  event.buffer_names = TextsOf(line.Get("buffer_names"));
  return event;
}

// A file that is absent or no object says nothing: what the program is, is not known then.
ProgramFacts FactsFrom(const std::string& text) {
  ProgramFacts facts;
  const auto document = text.empty() ? std::nullopt : std::optional(JsonValue::Parse(text));
  if (!document || !*document) return facts;
  for (size_t kind = 0; kind < (*document)->keys().size(); ++kind) {
    const JsonValue& names = (*document)->items()[kind];
    for (size_t name = 0; name < names.keys().size(); ++name)
      facts[(*document)->keys()[kind]][names.keys()[name]] = TextsOf(names.items()[name]);
  }
  return facts;
}

// Removes the prints of `count` tensors from `numbers`; returns false if there are fewer.
bool TakePrints(std::string_view& numbers, size_t count, std::vector<TensorPrint>& prints) {
  if (numbers.size() < count * kPrintBytes) return false;
  prints.resize(count);
  for (TensorPrint& print : prints) {
    std::memcpy(&print.norm, numbers.data(), sizeof print.norm);
    std::memcpy(print.sketch.data(), numbers.data() + sizeof print.norm, sizeof print.sketch);
    numbers.remove_prefix(kPrintBytes);
  }
  return true;
}

}  // namespace

Result<ParityRecording> ParseParityRecording(std::string_view events, std::string_view numbers, std::string_view path) {
  ParityRecording recording;
  const std::vector<std::string_view> lines = Split(events, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto line = JsonValue::Parse(lines[i]);
    const bool last = i + 1 == lines.size();  // what was cut off has no end of line
    if (!line && last) break;
    if (!line || !line->is_object())
      return Fail(ErrorCode::kInput, "this is not an event of a recording", StrCat(path, ":", i + 1),
                  line ? "" : line.error().message);
    ParityEvent event = EventFrom(*line);
    const bool whole = event.skipped || (TakePrints(numbers, CountOf(line->Get("tensors")), event.gradients) &&
                                         TakePrints(numbers, CountOf(line->Get("buffers")), event.buffers) &&
                                         TakePrints(numbers, CountOf(line->Get("starts")), event.starts));
    if (!whole) break;
    recording.events.push_back(std::move(event));
  }
  return recording;
}

Result<ParityRecording> ReadParityRecording(const std::string& folder) {
  const std::string path = StrCat(folder, "/events.jsonl");
  auto recording = ParseParityRecording(ContentOf(path, kMaxEventBytes),
                                        ContentOf(StrCat(folder, "/numbers.f64"), kMaxNumberBytes), path);
  if (recording) recording->program = FactsFrom(ContentOf(StrCat(folder, "/program.json"), kMaxProgramBytes));
  return recording;
}

}  // namespace gapless::internal
