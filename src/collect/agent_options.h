// SPDX-License-Identifier: Apache-2.0
// What the launcher asks of the agent from the beginning (GAPLESS_OPTIONS in docs/agent_protocol.md).
#pragma once

#include <string>

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
  bool calls = false;  // tell each call of the model of a program that infers
};

std::string ToJson(const AgentOptions& options);

}  // namespace gapless::internal
