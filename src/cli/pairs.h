// SPDX-License-Identifier: Apache-2.0
// What the verbs share that run two commands in pairs (compare, validate).
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
    .name = "budget", .takes = kTakesValue, .value = "TIME", .help = "Begin no pair after this time: 90s, 10m, 2h"};
inline constexpr OptionSpec kMarginOption = {
    .name = "margin", .takes = kTakesValue, .value = "SHARE", .help = "Differences below it do not matter (1%)"};
inline constexpr OptionSpec kAOption = {
    .name = "a", .takes = kTakesValue, .value = "CMD", .help = "The first command, for a shell, instead of after --"};
inline constexpr OptionSpec kBOption = {.name = "b", .takes = kTakesValue, .value = "CMD", .help = "The second one"};
inline constexpr OptionSpec kHigherIsBetterOption = {.name = "higher-is-better",
                                                     .help = "What --pattern finds is better when it is more"};
inline constexpr OptionSpec kSeedOption = {
    .name = "seed", .takes = kTakesValue, .value = "N", .help = "Of the coin that draws the order within a pair"};

using TwoCommands = std::pair<std::vector<std::string>, std::vector<std::string>>;
// What stands after -- is split at the second --; or both are given by options, as a shell would read them.
Result<TwoCommands> CommandsFrom(const Arguments& arguments);

Result<PairPlan> PairPlanFrom(const Arguments& arguments, TwoCommands commands);
Result<PairOptions> PairOptionsFrom(const Arguments& arguments);

}  // namespace gapless::internal
