// SPDX-License-Identifier: Apache-2.0
// The parts shared by commands that run two commands in pairs (compare, validate).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/benchmark.h"
#include "proof/comparison.h"

namespace gapless::internal {

inline constexpr OptionSpec kPairsOption = {
    .name = "pairs", .takes = kTakesValue, .value = "N", .help = "Give up after N pairs (30)"};
inline constexpr OptionSpec kBudgetOption = {
    .name = "budget", .takes = kTakesValue, .value = "TIME", .help = "Start no pair after this time: 90s, 10m, 2h"};
inline constexpr OptionSpec kMarginOption = {.name = "margin",
                                             .takes = kTakesValue,
                                             .value = "SHARE",
                                             .help = "Treat differences below SHARE as equivalent (1%)"};
inline constexpr OptionSpec kAOption = {.name = "a",
                                        .takes = kTakesValue,
                                        .value = "CMD",
                                        .help = "Set the first command as a shell string, instead of after --"};
inline constexpr OptionSpec kBOption = {
    .name = "b", .takes = kTakesValue, .value = "CMD", .help = "Set the second command as a shell string"};
inline constexpr OptionSpec kHigherIsBetterOption = {.name = "higher-is-better",
                                                     .help = "Treat larger values of --pattern as better"};
inline constexpr OptionSpec kMetricOption = {
    .name = "metric",
    .takes = kTakesValue,
    .value = "NAME=REGEX",
    .help = "Compare a result that both print: the last match of REGEX, held to its own noise"};
inline constexpr OptionSpec kSeedOption = {
    .name = "seed", .takes = kTakesValue, .value = "N", .help = "Set the seed of the random order within each pair"};

using TwoCommands = std::pair<std::vector<std::string>, std::vector<std::string>>;
// Returns the two commands: the words after -- split at the second --, or two options that are split as a shell would.
Result<TwoCommands> CommandsFrom(const Arguments& arguments);

// Reads the plan of the pairs, with the first command as A, and the options by which they are judged.
Result<PairPlan> PairPlanFrom(const Arguments& arguments, TwoCommands commands);
Result<PairOptions> PairOptionsFrom(const Arguments& arguments);

}  // namespace gapless::internal
