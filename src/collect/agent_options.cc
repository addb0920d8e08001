// SPDX-License-Identifier: Apache-2.0
// Writes the agent's options as JSON; docs/agent_protocol.md describes the keys. Options that few runs use are
// written only where they are set.
#include "collect/agent_options.h"

#include "base/json_writer.h"

namespace gapless::internal {
namespace {

void WriteTextsIfAny(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

// Writes nothing without a role: an agent that finds no `parity` records nothing for a comparison.
void WriteParity(JsonWriter& json, const ParityOptions& parity) {
  if (!parity.IsOn()) return;
  json.Key("parity");
  json.BeginObject();
  json.Field("role", parity.role);
  json.Field("folder", parity.folder);
  json.Field("baseline", parity.baseline);
  json.Field("steps", parity.steps);
  json.Field("seconds", parity.seconds);
  json.Field("noise", parity.noise);
  json.Field("wide", parity.wide);
  json.Field("reseed", parity.reseed);
  json.EndObject();
}

}  // namespace

std::string ToJson(const AgentOptions& options) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("mode", options.light ? "light" : "step");
  json.Field("step", options.explicit_steps ? "explicit" : "auto");
  if (!options.step_function.empty()) json.Field("step_function", options.step_function);
  json.Key("record");
  json.BeginObject();
  json.Field("on", options.record);
  json.Field("wait", options.wait);
  json.Field("warmup", options.warmup);
  json.Field("active", options.active);
  json.Field("repeat", options.repeat);
  json.Field("shapes", options.shapes);
  json.Field("stacks", options.stacks);
  json.Field("memory", options.memory);
  json.Field("sync_events", options.sync_events);
  json.EndObject();
  json.Field("memory_history", options.memory_history);
  json.Field("python", options.python);
  json.Field("python_hz", options.python_hz);
  if (options.every_loss) json.Field("every_loss", true);
  if (options.calls) json.Field("calls", true);
  WriteTextsIfAny(json, "fixes", options.fixes);
  WriteTextsIfAny(json, "own_fixes", options.own_fixes);
  WriteTextsIfAny(json, "fix_environment", options.fix_environment);
  if (options.switch_loaders) json.Field("switch_loaders", true);
  WriteParity(json, options.parity);
  json.EndObject();
  return out;
}

}  // namespace gapless::internal
