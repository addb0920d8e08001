// SPDX-License-Identifier: Apache-2.0
// The parts shared by commands that run two commands in pairs (compare, validate).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/benchmark.h"
#include "proof/comparison.h"
#include "proof/kept_metric.h"

namespace gapless::internal {

// All that commands that run pairs have in common beside the options of measuring.
struct PairArguments : MeasureArguments {
  size_t pairs = 30;
  std::optional<double> budget{};  // seconds
  double margin = 0.01;
  std::optional<std::string> a{}, b{};
  std::optional<MetricOption> metric{};
  std::optional<uint64_t> seed{};  // absent: another order each time
};
Result<MetricOption> ReadMetric(const OptionSpec& option, std::string_view text);

inline constexpr int64_t kMaxPairs = 10'000;
inline constexpr auto kMarginOption =
    Parsed<&PairArguments::margin, ReadShare>("SHARE", "Treat differences below SHARE as equivalent (1%)");
inline constexpr auto kSeedOption =
    Number<&PairArguments::seed>("N", "Set the seed of the random order within each pair", 0);
inline constexpr OptionList kTwoCommandsOptions{
    Text<&PairArguments::a>("CMD", "Set the first command as a shell string, instead of after --"),
    Text<&PairArguments::b>("CMD", "Set the second command as a shell string"),
};
inline constexpr OptionList kPairOptions{
    Number<&PairArguments::pairs>("N", "Give up after N pairs (30)", 1, kMaxPairs),
    Parsed<&PairArguments::budget, ReadTime>("TIME", "Start no pair after this time: 90s, 10m, 2h"),
    kMarginOption,
    kTwoCommandsOptions,
    kWarmupOption,
    kStepsOption,
    kPatternOption,
    kHigherIsBetterOption,
    Parsed<&PairArguments::metric, ReadMetric>(
        "NAME=REGEX", "Compare a result that both print: the last match of REGEX, held to its own noise"),
    kWholeOption,
    kToTheEndOption,
    kProcessOptions,
    kSeedOption,
    kShowOutputOption,
};
// Commands that try settings have these: short runs, and many of them.
inline constexpr OptionList kShortRunOptions{
    kMarginOption,
    Number<&MeasureArguments::warmup>("N", "Skip N steps of each run before measuring (5)", 0),
    Number<&MeasureArguments::steps>("N", "Measure N steps of each run, fewer if steps are long (50)", 1),
    kProcessOptions,
    kSeedOption,
};

using TwoCommands = std::pair<std::vector<std::string>, std::vector<std::string>>;
// Returns the two commands: the words after -- split at the second --, or two options that are split as a shell would.
Result<TwoCommands> CommandsFrom(const PairArguments& arguments);

// Returns the plan of the pairs, with the first command as A.
Result<PairPlan> PairPlanFrom(const PairArguments& arguments, TwoCommands commands);

}  // namespace gapless::internal
