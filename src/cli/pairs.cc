// SPDX-License-Identifier: Apache-2.0
// Parses the two commands and the options of commands that run pairs. The first `--` ends the options of gapless, the
// second separates the commands; --a and --b take them as texts for /bin/sh instead.
#include "cli/pairs.h"

#include <algorithm>
#include <random>

namespace gapless::internal {
namespace {

constexpr int64_t kDefaultPairs = 30, kMaxPairs = 10'000;
constexpr double kDefaultMargin = 0.01;

}  // namespace

// Refuses a mixture of both ways: which command is A would be unclear.
Result<TwoCommands> CommandsFrom(const Arguments& arguments) {
  if (arguments.Has("a") || arguments.Has("b")) {
    if (!arguments.Has("a") || !arguments.Has("b") || !arguments.command().empty())
      return Fail(ErrorCode::kUsage, "--a and --b must be given together, and without --");
    const auto shell = [&](std::string_view option) {
      return std::vector<std::string>{"/bin/sh", "-c", std::string(arguments.Value(option))};
    };
    return std::pair(shell("a"), shell("b"));
  }
  const std::vector<std::string>& words = arguments.command();
  const auto second = std::find(words.begin(), words.end(), "--");
  if (second == words.end() || second == words.begin() || second + 1 == words.end())
    return Fail(ErrorCode::kUsage, "two commands are required", "", "-- python old.py -- python new.py");
  return std::pair(std::vector<std::string>(words.begin(), second), std::vector<std::string>(second + 1, words.end()));
}

Result<PairPlan> PairPlanFrom(const Arguments& arguments, TwoCommands commands) {
  GAPLESS_ASSIGN(auto a, RequestFrom(arguments, std::move(commands.first)));
  GAPLESS_ASSIGN(auto b, RequestFrom(arguments, std::move(commands.second)));
  GAPLESS_ASSIGN(const auto pairs, arguments.Number("pairs", 1, kDefaultPairs));
  GAPLESS_ASSIGN(const auto seed, arguments.Number("seed", 0, -1));
  GAPLESS_ASSIGN(const auto budget, TimeFrom(arguments, "budget"));
  PairPlan plan{.a = std::move(a), .b = std::move(b), .budget_s = budget};
  plan.most_pairs = static_cast<size_t>(std::min(pairs, kMaxPairs));
  if (arguments.Has("metric")) {
    GAPLESS_ASSIGN(const auto metric, ParseMetric(std::string(arguments.Value("metric"))));
    plan.metric_name = metric.name;
    plan.a.metric = plan.b.metric = metric.pattern;
  }
  // Without --seed every comparison draws another order.
  plan.seed = seed >= 0 ? static_cast<uint64_t>(seed) : std::random_device()();
  return plan;
}

Result<PairOptions> PairOptionsFrom(const Arguments& arguments) {
  GAPLESS_ASSIGN(const auto margin, ShareFrom(arguments, "margin", kDefaultMargin));
  return PairOptions{.margin = margin};
}

}  // namespace gapless::internal
