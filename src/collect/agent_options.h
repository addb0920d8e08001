// SPDX-License-Identifier: Apache-2.0
// The options that the launcher gives to the agent at its start (GAPLESS_OPTIONS).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

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
  static constexpr FieldInfo kFields[] = {
      Field<&ParityOptions::role>("role", "", "what this run is in the comparison"),
      Field<&ParityOptions::folder>("folder", "", "folder of this recording"),
      Field<&ParityOptions::baseline>("baseline", "", "folder of the baseline's"),
      Field<&ParityOptions::steps>("steps", "count", "steps that the baseline records"),
      Field<&ParityOptions::seconds>("seconds", "s", "limit of the baseline's recording; 0: none"),
      Field<&ParityOptions::noise>("noise", "", "noise of a probe"),
      Field<&ParityOptions::wide>("wide", "", "the noise is also on the state of recurrent layers"),
      Field<&ParityOptions::reseed>("reseed", "", "number that is added to the seed"),
  };
};

enum class AgentMode : uint8_t { kStep, kLight };   // light: steps, samples and waits only
enum class StepEnd : uint8_t { kAuto, kExplicit };  // explicit: a step ends where the program says so
inline std::string_view NameOf(AgentMode mode) { return mode == AgentMode::kLight ? "light" : "step"; }
inline std::string_view NameOf(StepEnd source) { return source == StepEnd::kExplicit ? "explicit" : "auto"; }
template <>
inline constexpr int64_t kValuesOf<AgentMode> = 2;
template <>
inline constexpr int64_t kValuesOf<StepEnd> = 2;

// Orders for PyTorch's profiler.
struct RecordOptions {
  bool on = true;
  int wait = 5, warmup = 3, active = 6, repeat = 1;  // steps
  bool shapes = true, stacks = true, memory = false, sync_events = true;
  static constexpr FieldInfo kFields[] = {
      Field<&RecordOptions::on>("on", "", "record with PyTorch's profiler"),
      Field<&RecordOptions::wait>("wait", "count", "steps before"),
      Field<&RecordOptions::warmup>("warmup", "count", "steps that are recorded and dropped"),
      Field<&RecordOptions::active>("active", "count", "steps that are recorded"),
      Field<&RecordOptions::repeat>("repeat", "count", "recordings"),
      Field<&RecordOptions::shapes>("shapes", "", "shapes of operators"),
      Field<&RecordOptions::stacks>("stacks", "", "Python's stacks"),
      Field<&RecordOptions::memory>("memory", "", "memory events"),
      Field<&RecordOptions::sync_events>("sync_events", "", "synchronisation events"),
  };
};

// AgentOptions are what the agent of each process is to do. The defaults are those of `gapless profile`. Options that
// few runs use are written only where they are set.
struct AgentOptions {
  AgentMode mode = AgentMode::kStep;
  StepEnd step = StepEnd::kAuto;
  std::string step_function{};  // a step ends where it returns; empty: see `step`
  RecordOptions record{};
  bool memory_history = false;  // the allocator's own, for snapshots
  std::string python;           // "", "sample", "cprofile", "lines", "tracemalloc"
  int python_hz = 100;
  bool every_loss = false;                     // record every loss, also of many short steps
  bool calls = false;                          // record each call of the model of a program that infers
  std::vector<std::string> fixes{};            // switched on from the beginning: "workers=4"
  std::vector<std::string> own_fixes{};        // absolute paths of the user's own, which `fixes` may name
  std::vector<std::string> fix_environment{};  // names of variables that fixes have set for the command
  bool switch_loaders = false;                 // workers of DataLoaders can be exchanged between two steps
  std::optional<ParityOptions> parity{};       // an agent that finds none records nothing for a comparison
  bool watch_samples = false;                  // the files of samples, and how long these take
  static constexpr FieldInfo kFields[] = {
      Field<&AgentOptions::mode>("mode", "", "what is watched"),
      Field<&AgentOptions::step>("step", "", "where a step ends"),
      Field<&AgentOptions::step_function>("step_function", "", "function whose return ends a step", kUnlessEmpty),
      Field<&AgentOptions::record>("record", "", "orders for PyTorch's profiler"),
      Field<&AgentOptions::memory_history>("memory_history", "", "the allocator's history is kept"),
      Field<&AgentOptions::python>("python", "", "profiler of Python"),
      Field<&AgentOptions::python_hz>("python_hz", "1/s", "rate of its samples"),
      Field<&AgentOptions::every_loss>("every_loss", "", "every loss is recorded", kUnlessEmpty),
      Field<&AgentOptions::calls>("calls", "", "each call of a model is recorded", kUnlessEmpty),
      Field<&AgentOptions::fixes>("fixes", "", "fixes to switch on", kUnlessEmpty),
      Field<&AgentOptions::own_fixes>("own_fixes", "", "files of the user's own fixes", kUnlessEmpty),
      Field<&AgentOptions::fix_environment>("fix_environment", "", "variables set by fixes", kUnlessEmpty),
      Field<&AgentOptions::switch_loaders>("switch_loaders", "", "workers can be exchanged", kUnlessEmpty),
      Field<&AgentOptions::parity>("parity", "", "the recording for a comparison"),
      Field<&AgentOptions::watch_samples>("watch_samples", "", "files and times of samples", kUnlessEmpty),
  };
};

// Returns the options as one line of JSON, for the variable GAPLESS_OPTIONS.
std::string ToJson(const AgentOptions& options);

}  // namespace gapless::internal
