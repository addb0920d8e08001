// SPDX-License-Identifier: Apache-2.0
// What the launcher asks of the agent from the beginning (GAPLESS_OPTIONS in docs/agent_protocol.md).
#pragma once

#include <string>
#include <vector>

namespace gapless::internal {

struct AgentOptions {
  bool light = false;                                // steps, samples and waits only
  bool explicit_steps = false;                       // a step ends where the program says gapless.step()
  bool record = true;                                // PyTorch's profiler, on the schedule below
  int wait = 5, warmup = 3, active = 6, repeat = 1;  // steps
  bool shapes = true, stacks = true, memory = false, sync_events = true;
  bool memory_history = false;  // the allocator's own, for snapshots
  std::string python;           // "", "sample", "cprofile", "lines", "tracemalloc"
  int python_hz = 100;
  bool every_loss = false;               // of short steps, too, however many
  bool calls = false;                    // tell each call of the model of a program that infers
  std::vector<std::string> fixes{};      // switched on from the beginning: "workers=4"
  std::vector<std::string> own_fixes{};  // absolute paths of the user's own, which `fixes` may name
  int digest_step = 0;                   // after so many steps a digest of all parameters; 0: none
};

std::string ToJson(const AgentOptions& options);

}  // namespace gapless::internal
