// SPDX-License-Identifier: Apache-2.0
// The words typed after the command, checked against the command's description.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

struct Command;

// The options, positionals and user's command of one call. Names of options are without dashes. Texts point into this
// object.
class Arguments {
 public:
  bool Has(std::string_view option) const { return options_.contains(option); }
  // The value of an option, the last one when it was given several times; `fallback` when it was not given.
  std::string_view Value(std::string_view option, std::string_view fallback = {}) const;
  // Its values, one for each time it was given.
  std::vector<std::string> Values(std::string_view option) const;
  // The items of a list option, from all times it was given.
  std::vector<std::string> List(std::string_view option) const;
  // The value as a whole number of at least `least`; `fallback` when it was not given.
  Result<int64_t> Number(std::string_view option, int64_t least, int64_t fallback) const;
  // The value as a number above zero, `unit` after it left out ("2.49/gpu-hour"); absent when it was not given.
  Result<std::optional<double>> Positive(std::string_view option, std::string_view unit = {}) const;

  const std::vector<std::string>& positionals() const { return positionals_; }
  const std::vector<std::string>& command() const { return command_; }  // what stood after `--`

  // --json without FILE: standard output holds JSON and nothing else.
  bool JsonToStdout() const { return Value("json") == "-"; }

 private:
  friend Result<Arguments> ParseArguments(const Command& command, std::span<const std::string> args);
  std::map<std::string, std::vector<std::string>, std::less<>> options_;
  std::vector<std::string> positionals_;
  std::vector<std::string> command_;
};

// `args` are those after the verb. They are split at the first `--` before anything else is looked at: what follows is
// the user's command, verbatim. A bare --json has the value "-".
Result<Arguments> ParseArguments(const Command& command, std::span<const std::string> args);

}  // namespace gapless::internal
