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

// "90", "90s", "10m", "2h" as seconds, for every option that takes a time.
Result<double> ReadTime(const OptionSpec& option, std::string_view text);
// "500M", "4G", "1GiB" and numbers of bytes; the units are those of 1024.
Result<int64_t> ReadBytes(const OptionSpec& option, std::string_view text);

enum class LogLevel : uint8_t { kWarning, kError, kOff };
inline constexpr Choosable<LogLevel> kLogLevels[] = {
    {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}, {"off", LogLevel::kOff}};

// All that every verb has. The struct of a verb begins with it, and hides the lists of what it declares by its own.
struct Arguments {
  std::optional<std::string> json{};  // --json without FILE: "-"
  bool keep_command = false, help = false;
  std::optional<double> timeout{};     // seconds: a verb that only reads ends then, others end what takes longer
  std::optional<LogLevel> log{};       // unset: as GAPLESS_LOG says
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
