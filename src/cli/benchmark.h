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

// "2%" or "0.02" as a share below one; "0-3,8" as processors, each of which this process may run on.
Result<double> ReadShare(const OptionSpec& option, std::string_view text);
Result<std::vector<int>> ReadCpus(const OptionSpec& option, std::string_view text);

// All that commands that measure have in common. A command lists those of these options that it honours; the defaults
// are in brackets, and a command may have its own.
struct MeasureArguments : Arguments {
  size_t warmup = 10, steps = 100;
  std::string pattern{}, step_function{};  // empty: not given
  bool whole = false, to_the_end = false, show_output = false, strict = false, higher_is_better = false;
  std::vector<int> pin{};
};
inline constexpr auto kWarmupOption =
    Number<&MeasureArguments::warmup>("N", "Skip N steps of each process before measuring (10)", 0);
inline constexpr auto kStepsOption =
    Number<&MeasureArguments::steps>("N", "Measure N steps, then stop the program (100)", 1);
inline constexpr auto kPatternOption =
    Text<&MeasureArguments::pattern>("REGEX", "Measure the numbers that match REGEX in the output instead");
inline constexpr auto kWholeOption =
    Flag<&MeasureArguments::whole>("Measure the time of whole processes even if steps are detected");
inline constexpr auto kToTheEndOption =
    Flag<&MeasureArguments::to_the_end>("Let the program run to its end after the measurement");
inline constexpr OptionList kProcessOptions{
    Parsed<&Arguments::timeout, ReadTime>("TIME", "End a process that runs longer than TIME: 90s, 10m, 2h"),
    StepFunctionOption<&MeasureArguments::step_function>(),
    Parsed<&MeasureArguments::pin, ReadCpus>("CPUS", "Run the program only on these processors: 0-3,8"),
};
inline constexpr auto kStrictOption = Flag<&MeasureArguments::strict>("Exit with status 5 where it cannot tell");
inline constexpr auto kShowOutputOption = Flag<&MeasureArguments::show_output>("Show the program's output");
inline constexpr auto kHigherIsBetterOption =
    Flag<&MeasureArguments::higher_is_better>("Treat larger values of --pattern as better");
// Builds the request from the options; a usage error if no command was given.
Result<RunRequest> RequestFrom(const MeasureArguments& arguments, std::vector<std::string> command);

// Answers that are known, and the one that is not. The exit status is 0 for yes, 1 for no; what cannot be told counts
// as `otherwise`, or as 5 with --strict.
enum class Told : uint8_t { kYes, kNo, kCannotTell };
int StatusOf(const MeasureArguments& arguments, Told told, int otherwise);
// Prints what PrintTextOrJson() prints, and returns the exit status.
Result<int> Answer(const Arguments& arguments, int status, const std::function<std::string()>& text,
                   const std::function<std::string()>& json);
// The same; the exit status is 0 for yes and 1 for no.
Result<int> Answer(const Arguments& arguments, bool yes, const std::function<std::string()>& text,
                   const std::function<std::string()>& json);

}  // namespace gapless::internal
