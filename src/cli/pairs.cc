// SPDX-License-Identifier: Apache-2.0
// Parses the two commands and the options of commands that run pairs. The first `--` ends the options of gapless, the
// second separates the commands; --a and --b take them as texts for /bin/sh instead.
#include "cli/pairs.h"

#include <algorithm>
#include <random>

namespace gapless::internal {
// Refuses a mixture of both ways: which command is A would be unclear.
Result<TwoCommands> CommandsFrom(const PairArguments& arguments) {
  if (arguments.a || arguments.b) {
    if (!arguments.a || !arguments.b || !arguments.command.empty())
      return Fail(ErrorCode::kUsage, "--a and --b must be given together, and without --");
    const auto shell = [](const std::string& text) { return std::vector<std::string>{"/bin/sh", "-c", text}; };
    return std::pair(shell(*arguments.a), shell(*arguments.b));
  }
  const std::vector<std::string>& words = arguments.command;
  const auto second = std::find(words.begin(), words.end(), "--");
  if (second == words.end() || second == words.begin() || second + 1 == words.end())
    return Fail(ErrorCode::kUsage, "two commands are required", "", "-- python old.py -- python new.py");
  return std::pair(std::vector<std::string>(words.begin(), second), std::vector<std::string>(second + 1, words.end()));
}

Result<MetricOption> ReadMetric(const OptionSpec&, std::string_view text) { return ParseMetric(std::string(text)); }

Result<PairPlan> PairPlanFrom(const PairArguments& arguments, TwoCommands commands) {
  GAPLESS_ASSIGN(auto a, RequestFrom(arguments, std::move(commands.first)));
  GAPLESS_ASSIGN(auto b, RequestFrom(arguments, std::move(commands.second)));
  PairPlan plan{.a = std::move(a), .b = std::move(b), .budget_s = arguments.budget};
  plan.most_pairs = arguments.pairs;
  if (arguments.metric) {
    plan.metric_name = arguments.metric->name;
    plan.a.metric = plan.b.metric = arguments.metric->pattern;
  }
  // Without --seed every comparison draws another order.
  plan.seed = arguments.seed.value_or(std::random_device()());
  return plan;
}

}  // namespace gapless::internal
