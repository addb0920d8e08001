// SPDX-License-Identifier: Apache-2.0
// The documents of `gapless run`: one of the run, and one of what --print prints.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "cli/commands/run/fix_watch.h"
#include "cli/commands/run/plan.h"

namespace gapless::internal {

// Names of the states in the document.
inline std::string_view NameOf(ChangeState state) {
  return state == ChangeState::kOn ? "on" : state == ChangeState::kOff ? "off" : "refused";
}
template <>
inline constexpr int64_t kValuesOf<ChangeState> = static_cast<int64_t>(ChangeState::kRefused) + 1;

namespace documents {

// The document of --print.
struct PrintedRun {
  std::vector<std::string> command{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<std::string> needs_gapless{};
  static constexpr FieldInfo kFields[] = {
      Field<&PrintedRun::command>("command", "", "the command, word by word"),
      Field<&PrintedRun::environment>("environment", "", "variables that do what the recipe does"),
      Field<&PrintedRun::needs_gapless>("needs_gapless", "", "fixes that no variable can switch on"),
  };
};

// The effect of a fix, as one or more processes reported it.
struct SwitchedFix {
  std::string fix{}, value{};
  ChangeState state = ChangeState::kOff;
  std::string what{};
  size_t processes = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&SwitchedFix::fix>("fix", "", "name of the fix"),
      Field<&SwitchedFix::value>("value", "", "its value", kUnlessEmpty),
      Field<&SwitchedFix::state>("state", "", "its state"),
      Field<&SwitchedFix::what>("what", "", "what was changed, or why not", kUnlessEmpty),
      Field<&SwitchedFix::processes>("processes", "count", "processes that reported it"),
  };
};

// The document of a run that has ended.
struct Run {
  std::string recipe{};
  int exit_status = 0, signal = 0;
  std::vector<SwitchedFix> fixes{};
  std::vector<std::string> unreported{};
  static constexpr FieldInfo kFields[] = {
      Field<&Run::recipe>("recipe", "", "file of the recipe"),
      Field<&Run::exit_status>("exit_status", "", "status of the command"),
      Field<&Run::signal>("signal", "", "signal that ended it", kUnlessEmpty),
      Field<&Run::fixes>("fixes", "", "what was reported of each fix"),
      Field<&Run::unreported>("silent", "", "fixes that no process reported"),
  };
};

}  // namespace documents

// Returns the document of --print.
std::string PrintedJson(const RunPlan& plan);
// Returns the document of a run that has ended.
std::string ResultJson(const RunPlan& plan, const LaunchResult& result, const FixWatch& watch);

}  // namespace gapless::internal
