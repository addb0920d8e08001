// SPDX-License-Identifier: Apache-2.0
// Merges the requests of two nested gapless commands. The agent reads one JSON object (GAPLESS_OPTIONS), so the inner
// command copies the outer one's measurements and fixes into its own request.
//
//   gapless optimize -- gapless run --recipe optimized.json -- python train.py
//
// Here `optimize` is around `run`: its trials must have the recipe's fixes and their own. What the outer command
// measures is what the user asked for, so its members win; of one fix with two values the outer value wins, and the
// recipe's is reported as replaced. Members of the request that this program does not know are copied as they are.
//
// Example: the surroundings ask for {"every_loss": true, "fixes": ["workers=8"]}, the recipe has workers=4 and amp. The
// agent is asked for {"every_loss": true, "fixes": ["amp", "workers=8"]}, and workers=4 is reported as replaced.
#include "cli/asked_together.h"

#include <algorithm>
#include <string_view>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kFixes = "fixes", kOwnFixes = "own_fixes";

std::string_view FixNameOf(std::string_view item) { return item.substr(0, item.find('=')); }

// Returns the texts of a list; members of other kinds are left out, as they come from another program.
std::vector<std::string> TextsOf(const JsonValue& list) {
  std::vector<std::string> texts;
  for (const JsonValue& json_value : list.items())
    if (json_value.Text() != nullptr) texts.push_back(*json_value.Text());
  return texts;
}

// Appends a member to an object that is being written; `value` is JSON already.
void AddMember(std::string& out, std::string_view key, const std::string& value) {
  out += out.size() > 1 ? "," : "";
  AppendJsonString(out, key);
  out += StrCat(":", value);
}

// Appends a list of texts; an empty list is left out.
void AddTexts(std::string& out, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  std::string list;
  JsonWriter json(list);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
  AddMember(out, key, list);
}

// Reads the request for a recording that is compared with another run's. The text comes from the environment, where
// anybody can put anything, and maybe from another version: it is read by hand, so that a value of a wrong kind or out
// of range keeps its default and the others count.
ParityOptions ParityOf(const JsonValue& asked) {
  constexpr int64_t kMaxNumber = int64_t{1} << 30;
  const auto number = [&](const char* key, int fallback) {
    const auto value = asked.Get(key).Int();
    return value && *value >= 0 && *value < kMaxNumber ? static_cast<int>(*value) : fallback;
  };
  ParityOptions options{
      .role = asked.TextOf("role"), .folder = asked.TextOf("folder"), .baseline = asked.TextOf("baseline")};
  options.steps = number("steps", options.steps);
  options.seconds = asked.Get("seconds").Number().value_or(0);
  options.noise = asked.Get("noise").Number().value_or(0);
  options.wide = asked.Get("wide").Bool().value_or(false);
  options.reseed = number("reseed", 0);
  return options;
}

}  // namespace

AskedTogether AskTogether(const std::string& around, const std::vector<std::string>& fixes,
                          const std::vector<std::string>& own_fixes, const std::string& step_function) {
  const auto parsed = JsonValue::Parse(around);
  const JsonValue asked = parsed && parsed->is_object() ? *parsed : JsonValue();
  AskedTogether together;
  const std::vector<std::string> its = TextsOf(asked.Get(kFixes));
  for (const std::string& item : fixes) {
    const bool replaced =
        std::ranges::any_of(its, [&](const auto& element) { return FixNameOf(element) == FixNameOf(item); });
    (replaced ? together.replaced : together.fixes).push_back(item);
  }
  std::vector<std::string> all = together.fixes, files = own_fixes;
  all.insert(all.end(), its.begin(), its.end());
  for (const std::string& file : TextsOf(asked.Get(kOwnFixes)))
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  std::string& out = together.agent_options = "{";
  for (size_t i = 0; i < asked.keys().size(); ++i)
    if (asked.keys()[i] != kFixes && asked.keys()[i] != kOwnFixes)
      AddMember(out, asked.keys()[i], ToJson(asked.items()[i]));
  if (!step_function.empty() && asked.Get("step_function").Text() == nullptr) {
    std::string value;
    AppendJsonString(value, step_function);
    AddMember(out, "step_function", value);
  }
  AddTexts(out, kFixes, all);
  AddTexts(out, kOwnFixes, files);
  out += "}";
  return together;
}

// Adds what the surroundings ask for; a measurement is switched on if either side wants it.
void AskForTheOneAround(const std::string& around, AgentOptions& options) {
  const auto parsed = JsonValue::Parse(around);
  if (!parsed || !parsed->is_object()) return;
  const auto is_true = [&](const char* key) { return parsed->Get(key).Bool().value_or(false); };
  options.every_loss = options.every_loss || is_true("every_loss");
  options.calls = options.calls || is_true("calls");
  if (ParityOptions parity = ParityOf(parsed->Get("parity")); parity.IsOn()) options.parity = std::move(parity);
  if (const std::string* function = parsed->Get("step_function").Text()) options.step_function = *function;
  for (std::string& item : TextsOf(parsed->Get(kFixes))) options.fixes.push_back(std::move(item));
  for (std::string& file : TextsOf(parsed->Get(kOwnFixes))) options.own_fixes.push_back(std::move(file));
}

}  // namespace gapless::internal
