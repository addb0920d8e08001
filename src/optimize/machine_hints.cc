// SPDX-License-Identifier: Apache-2.0
#include "optimize/machine_hints.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// Measured on two processors: one thread under a rollout of tiny operators 1.12 times, no workers instead of four 1.14
// times as fast.
constexpr double kFewerThreads = 1.1, kFewerWorkers = 1.12, kIdleWorkers = 1.05;

std::optional<size_t> CountOf(const std::string& value) {
  size_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  return error == std::errc() && end == value.data() + value.size() ? std::optional(count) : std::nullopt;
}

bool IsFound(std::span<const Bottleneck> bottlenecks, std::initializer_list<std::string_view> ids) {
  return std::ranges::any_of(bottlenecks,
                             [&](const Bottleneck& found) { return std::ranges::find(ids, found.id) != ids.end(); });
}

}  // namespace

std::optional<double> HintedSpeedup(const FixItem& item, const FixContext& context,
                                    std::span<const Bottleneck> bottlenecks) {
  const auto count = CountOf(item.value);
  const size_t cpus = CpusPerRank(context);
  if (!count) return std::nullopt;
  if (item.fix->name == "threads" && *count < cpus) {
    const bool are_tiny = IsFound(bottlenecks, {"host_operators", "host_optimizer", "host_bound"});
    if (are_tiny || (context.loader_workers > 0 && context.loader_workers > 1)) return kFewerThreads;
  }
  if (item.fix->name == "workers" && *count < context.loader_workers) {
    if (context.loader_workers + 1 > cpus) return kFewerWorkers;
    if (!IsFound(bottlenecks, {"data_loading", "host_data_loading", "run_data_loading"})) return kIdleWorkers;
  }
  return std::nullopt;
}

std::string WhyNothingToChange(const Fix& fix, const FixContext& context) {
  if (fix.operators.empty() || context.operators.empty()) return "";
  const bool is_recorded = std::ranges::any_of(context.operators, [&](const std::string& name) {
    return std::ranges::any_of(fix.operators, [&](std::string_view part) { return name.find(part) != name.npos; });
  });
  return is_recorded ? "" : StrCat("the recorded steps have no ", fix.operators_are);
}

}  // namespace gapless::internal
