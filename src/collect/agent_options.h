// SPDX-License-Identifier: Apache-2.0
// The options that the launcher gives to the agent at its start (GAPLESS_OPTIONS in docs/agent_protocol.md).
#pragma once

#include <string>
#include <vector>

namespace gapless::internal {

// A recording of the first optimiser steps, to be compared with another run's (docs/parity.md). None without a role.
struct ParityOptions {
  std::string role{};                // "baseline", "probe", "repeat", "reseeded", "candidate"
  std::string folder{}, baseline{};  // folder of this recording, and of the baseline's for all other roles
  int steps = 20;                    // that the baseline records; the others follow it
  double seconds = 0;                // after which the baseline records no more; 0: no limit
  double noise = 0;                  // noise of a probe
  bool wide = false;                 // the noise is also on the state of recurrent layers
  int reseed = 0;                    // added to the seed
  bool IsOn() const { return !role.empty(); }
};

// AgentOptions are what the agent of each process is to do. The defaults are those of `gapless profile`.
struct AgentOptions {
  bool light = false;                                // steps, samples and waits only
  bool explicit_steps = false;                       // a step ends where the program says gapless.step()
  std::string step_function{};                       // a step ends where it returns; empty: see explicit_steps
  bool record = true;                                // PyTorch's profiler, on the schedule below
  int wait = 5, warmup = 3, active = 6, repeat = 1;  // steps
  bool shapes = true, stacks = true, memory = false, sync_events = true;
  bool memory_history = false;  // the allocator's own, for snapshots
  std::string python;           // "", "sample", "cprofile", "lines", "tracemalloc"
  int python_hz = 100;
  bool every_loss = false;                     // record every loss, also of many short steps
  bool calls = false;                          // record each call of the model of a program that infers
  std::vector<std::string> fixes{};            // switched on from the beginning: "workers=4"
  std::vector<std::string> own_fixes{};        // absolute paths of the user's own, which `fixes` may name
  std::vector<std::string> fix_environment{};  // names of variables that fixes have set for the command
  bool switch_loaders = false;                 // workers of DataLoaders can be exchanged between two steps
  ParityOptions parity{};
};

// Returns the options as one line of JSON, for the variable GAPLESS_OPTIONS.
std::string ToJson(const AgentOptions& options);

}  // namespace gapless::internal
