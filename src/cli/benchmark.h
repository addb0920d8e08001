// SPDX-License-Identifier: Apache-2.0
// The parts shared by commands that measure (bench, compare, gate, bisect): their options, the request for one run, and
// the exit status of a verdict.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/step_function.h"
#include "trial/run_once.h"

namespace gapless::internal {

// A command lists those of these options that it honours; RequestFrom() reads whichever it has. The numbers in brackets
// are the defaults, which a command may replace by its own.
inline constexpr auto kTakesValue = OptionSpec::Takes::kValue;
inline constexpr OptionSpec kWarmupOption = {
    .name = "warmup", .takes = kTakesValue, .value = "N", .help = "Skip N steps of each process before measuring (10)"};
inline constexpr OptionSpec kStepsOption = {
    .name = "steps", .takes = kTakesValue, .value = "N", .help = "Measure N steps, then stop the program (100)"};
inline constexpr OptionSpec kPatternOption = {.name = "pattern",
                                              .takes = kTakesValue,
                                              .value = "REGEX",
                                              .help = "Measure the numbers that match REGEX in the output instead"};
inline constexpr OptionSpec kWholeOption = {.name = "whole",
                                            .help = "Measure the time of whole processes even if steps are detected"};
inline constexpr OptionSpec kToTheEndOption = {.name = "to-the-end",
                                               .help = "Let the program run to its end after the measurement"};
inline constexpr OptionSpec kTimeoutOption = {.name = "timeout",
                                              .takes = kTakesValue,
                                              .value = "TIME",
                                              .help = "End a process that runs longer than TIME: 90s, 10m, 2h"};
inline constexpr OptionSpec kPinOption = {
    .name = "pin", .takes = kTakesValue, .value = "CPUS", .help = "Run the program only on these processors: 0-3,8"};
inline constexpr OptionSpec kStrictOption = {.name = "strict", .help = "Exit with status 5 where it cannot tell"};
inline constexpr OptionSpec kShowOutputOption = {.name = "show-output", .help = "Show the program's output"};

// "90", "90s", "10m", "2h" as seconds.
Result<std::optional<double>> TimeFrom(const Arguments& arguments, std::string_view option);
// "2%" or "0.02" as a share below one.
Result<double> ShareFrom(const Arguments& arguments, std::string_view option, double fallback);

// "0-3,8" as numbers, each of which this process may run on; nothing when the option was not given.
Result<std::vector<int>> CpusFrom(const Arguments& arguments, std::string_view option);

// Builds the request from the options above that the command has; a usage error if no command was given.
Result<RunRequest> RequestFrom(const Arguments& arguments, std::vector<std::string> command);

// Answers that are known, and the one that is not. The exit status is 0 for yes, 1 for no; what cannot be told counts
// as `otherwise`, or as 5 with --strict.
enum class Told : uint8_t { kYes, kNo, kCannotTell };
int StatusOf(const Arguments& arguments, Told told, int otherwise);
// Prints what PrintTextOrJson() prints, and returns the exit status.
Result<int> Answer(const Arguments& arguments, int status, const std::function<std::string()>& text,
                   const std::function<std::string()>& json);
// The same; the exit status is 0 for yes and 1 for no.
Result<int> Answer(const Arguments& arguments, bool yes, const std::function<std::string()>& text,
                   const std::function<std::string()>& json);

}  // namespace gapless::internal
