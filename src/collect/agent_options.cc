// SPDX-License-Identifier: Apache-2.0
// Writes the agent's options as JSON; python/gapless/agent/gapless_agent/options.py describes the keys.
#include "collect/agent_options.h"

#include "base/described_json.h"

namespace gapless::internal {

std::string ToJson(const AgentOptions& options) {
  std::string out;
  JsonWriter json(out);
  WriteJson(json, options);
  return out;
}

}  // namespace gapless::internal
