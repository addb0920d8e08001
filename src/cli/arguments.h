// SPDX-License-Identifier: Apache-2.0
// The words typed after a verb, read into its struct of options.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/option.h"

namespace gapless::internal {

struct Command;

// All that every verb has. The struct of a verb begins with it, and hides the lists of what it declares by its own.
struct Arguments {
  std::optional<std::string> json{};  // --json without FILE: "-"
  bool keep_command = false, help = false;
  std::vector<std::string> command{};  // what stood after `--`
  static constexpr OptionList kOptions{};
  static constexpr WordList kWords{};

  virtual ~Arguments() = default;
  // Returns true if standard output holds JSON and nothing else.
  bool JsonToStdout() const { return json == "-"; }
};

// `args` are those after the verb. They are split at the first `--` before anything else is looked at: what follows is
// the user's command, verbatim. With --help nothing is checked.
Result<std::unique_ptr<Arguments>> ParseArguments(const Command& command, std::span<const std::string> args);

}  // namespace gapless::internal
