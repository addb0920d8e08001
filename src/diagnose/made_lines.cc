// SPDX-License-Identifier: Apache-2.0
// Reads the agent's facts about loaders, optimisers and other objects, which are JSON in the environment of a trace.
#include "diagnose/made_lines.h"

#include "base/json_value.h"
#include "trace/trace.h"

namespace gapless::internal {
namespace {

// Calls `visit` with the facts of each object of a kind ("loader", "optimizer", "made") whose line is known.
template <class Visit>
void ForEachMade(const Run& run, std::string_view kind, Visit visit) {
  for (const RunTrace& of : run.traces()) {
    if (!of.counts()) continue;
    const EnvironmentTable& environment = of.trace->environment;
    for (size_t row = 0; row < environment.size(); ++row) {
      const std::string_view key = of.trace->Text(environment.key[row]);
      if (key.size() <= kind.size() || !key.starts_with(kind) || key[kind.size()] != '.') continue;
      const auto facts = JsonValue::Parse(of.trace->Text(environment.value[row]));
      if (facts && !facts->TextOf("line").empty()) visit(*facts);
    }
  }
}

}  // namespace

std::string LineOfOptimizer(const Run& run, std::string_view name) {
  std::string line;
  int64_t most = -1;
  ForEachMade(run, "optimizer", [&](const JsonValue& facts) {
    const int64_t tensors = facts.Get("tensors").Int().value_or(0);
    if (facts.TextOf("class") == name && tensors > most) most = tensors, line = facts.TextOf("line");
  });
  return line;
}

std::string LineOfLoader(const Run& run, std::string_view read) {
  std::string here, elsewhere;
  int64_t most = -1;
  ForEachMade(run, "loader", [&](const JsonValue& facts) {
    if (here.empty() && !read.empty() && facts.TextOf("read") == read) here = facts.TextOf("line");
    const int64_t samples = facts.Get("samples").Int().value_or(0);
    if (samples > most) most = samples, elsewhere = facts.TextOf("line");
  });
  return here.empty() ? elsewhere : here;
}

std::string LineOfMade(const Run& run, std::string_view name) {
  std::string line;
  ForEachMade(run, "made", [&](const JsonValue& facts) {
    if (line.empty() && facts.TextOf("class") == name) line = facts.TextOf("line");
  });
  return line;
}

std::string MadeOr(std::string made, std::string_view used) { return made.empty() ? std::string(used) : made; }

}  // namespace gapless::internal
