// SPDX-License-Identifier: Apache-2.0
// Writes patches for a script: each line of the input is {"folder", "changes": [records of fixes]}, or {"command",
// "here", "changes"}, which leaves it to find the folder; each line of the output {"diff", "root", "advice",
// "left_out"}. Driven by tests/patch_test.py and tests/patch_tree_test.py.
#include <iostream>
#include <string>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "optimize/patch.h"
#include "optimize/patch/checkout_root.h"

namespace {

using namespace gapless::internal;

void Texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

// JSON holds no bytes that are no text: the diff goes as hexadecimal digits.
std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string Answer(const std::string& line) {
  std::vector<Change> changes;
  const auto asked = JsonValue::Parse(line);
  if (!asked) return "{}";
  for (const JsonValue& item : asked->Get("changes").items())
    if (auto change = ParseChange(ToJson(item), 1)) changes.push_back(std::move(*change));
  std::vector<std::string> command;
  for (const JsonValue& word : asked->Get("command").items())
    if (word.Text() != nullptr) command.push_back(*word.Text());
  const std::string folder = asked->TextOf("folder");
  const std::string root = folder.empty() ? CheckoutRoot(command, asked->TextOf("here"), changes) : folder;
  const Patch patch = WritePatch(changes, root);
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("diff", Hex(patch.diff));
  json.Field("root", root);
  Texts(json, "advice", patch.advice);
  Texts(json, "left_out", patch.left_out);
  json.EndObject();
  return out;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << Answer(line) << std::endl;
}
