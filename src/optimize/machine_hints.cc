// SPDX-License-Identifier: Apache-2.0
// Computes expected speedups of `threads`, `workers` and `channels_last` from processors, operators and waits.
//
// The model of threads is Amdahl's law: a share of the step lies in operators that can be split, and 85 % of that
// runs on all threads. Example: large operators take 40 % of the step; from 2 to 4 threads the step becomes 1 −
// 0.85 · 0.4 · (1 − 2/4) = 0.83, a speedup of 1.2. These are estimates for the order of trials; each value is
// measured before it is kept.
#include "optimize/machine_hints.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kTinySaved = 0.11;    // share of tiny operators that one thread saves: 1.12 times on two processors
constexpr double kSplitShare = 0.85;   // share of a large operator that runs on all threads, as in predict's what-if
constexpr double kMinLarge = 0.01;     // share of step time; less is not worth a run
constexpr double kMinWait = 0.01;      // the same, of waits for batches
constexpr double kManyWaits = 0.2;     // steps that wait longer than this share need their workers
constexpr double kKeptOfWait = 0.85;   // share of the waits that workers save, as in predict's what-if
constexpr double kCrowded = 1.1;       // threads and workers that share too few processors: 1.10 to 1.14 times
constexpr double kIdleWorkers = 1.05;  // batches that no step waits for come without a queue
constexpr double kKeptOfLayout = 0.4;  // share of the time of layers of images that NHWC saves on a processor
constexpr double kMinImages = 0.1;     // share of step time; less is left to the prior
constexpr double kAssumedTiny = 0.9;   // share of step time, where only a bottleneck names tiny operators

// Returns the value as a whole number; nullopt for anything else.
std::optional<size_t> CountOf(const std::string& value) {
  size_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  return error == std::errc() && end == value.data() + value.size() ? std::optional(count) : std::nullopt;
}

bool IsFound(std::span<const Bottleneck> bottlenecks, std::initializer_list<std::string_view> ids) {
  return std::ranges::any_of(bottlenecks,
                             [&](const Bottleneck& found) { return std::ranges::find(ids, found.id) != ids.end(); });
}

// Estimates fewer threads: tiny operators save the cost of being shared, large ones lose. Threads and workers that
// together exceed the processors disturb each other.
MachineHint FewerThreads(double count, double threads, const FixContext& context,
                         std::span<const Bottleneck> bottlenecks) {
  const bool are_tiny = IsFound(bottlenecks, {"host_operators", "host_optimizer", "host_bound"});
  const auto cpus = static_cast<double>(CpusPerRank(context)), workers = static_cast<double>(context.loader_workers);
  const double small = context.shares.small_operators.value_or(are_tiny ? kAssumedTiny : 0),
               large = context.shares.large_operators.value_or(0);
  const double crowded = workers > 0 && workers + threads > cpus && count < threads ? kCrowded : 1;
  const double step = 1 - kTinySaved * small + kSplitShare * large * (threads / count - 1);
  if (context.gpu) return crowded > 1 ? MachineHint{.speedup = crowded} : MachineHint{};
  if (crowded == 1 && !context.shares.small_operators && !are_tiny) return {};
  if (crowded / step > 1) return {.speedup = crowded / step};
  return {.why_not = StrCat("operators that are large enough to be split take ", FormatPercent(large), " of a step")};
}

// Estimates more threads, at most as many as the loader's workers leave free.
MachineHint MoreThreads(double count, double threads, const FixContext& context) {
  const auto& large = context.shares.large_operators;
  if (context.gpu || !large) return {};
  if (*large < kMinLarge) return {.why_not = "no operator is large enough to be split over more threads"};
  const auto cpus = static_cast<double>(CpusPerRank(context));
  const double free = std::max(1.0, cpus - static_cast<double>(context.loader_workers)), then = std::min(count, free);
  if (then <= threads) return {.why_not = "loader workers use the other processors"};
  return {.speedup = 1 / (1 - kSplitShare * *large * (1 - threads / then))};
}

MachineHint ForThreads(size_t count, const FixContext& context, std::span<const Bottleneck> bottlenecks) {
  const auto threads = static_cast<double>(context.threads.value_or(CpusPerRank(context)));
  const auto wanted = static_cast<double>(count);
  if (context.threads == count) return {.why_not = "operators use that many threads already"};
  if (wanted < threads) return FewerThreads(wanted, threads, context, bottlenecks);
  return context.threads ? MoreThreads(wanted, threads, context) : MachineHint{};
}

// Estimates fewer workers, which help where workers crowd the processors or no step waits for them.
MachineHint FewerWorkers(size_t count, const FixContext& context, std::span<const Bottleneck> bottlenecks) {
  const size_t cpus = CpusPerRank(context);
  const bool are_crowded = context.loader_workers + 1 > std::max(cpus, LoadersPerRank(context));
  const double wait = context.shares.loader_wait.value_or(
      IsFound(bottlenecks, {"data_loading", "host_data_loading", "run_data_loading"}) ? 1 : 0);
  if (are_crowded) return {.speedup = count < cpus || wait < kManyWaits ? std::optional(kCrowded) : std::nullopt};
  if (wait >= kManyWaits)
    return {.why_not = StrCat("steps wait for batches of ", context.loader_workers, " workers already")};
  return {.speedup = kIdleWorkers};
}

// Without workers the wait is the loading itself: N workers do it N times as fast, beside the rest of the step. With
// workers that steps wait for, steps come as fast as batches do.
MachineHint MoreWorkers(size_t count, const FixContext& context) {
  const auto& wait = context.shares.loader_wait;
  if (!wait) return {};
  if (*wait < kMinWait) return {.why_not = "steps do not wait for batches"};
  const auto most = static_cast<double>(LoadersPerRank(context)), now = static_cast<double>(context.loader_workers);
  const double able = std::max(std::min(static_cast<double>(count), most), 1.0);
  if (able <= now)
    return {.why_not = StrCat("no processor is left for more than ", context.loader_workers, " workers")};
  const double left = now > 0 ? std::max(*wait - (1 - now / able), 0.0) : std::max(*wait / able - (1 - *wait), 0.0);
  return {.speedup = 1 / (1 - kKeptOfWait * (*wait - left))};
}

MachineHint ForWorkers(size_t count, const FixContext& context, std::span<const Bottleneck> bottlenecks) {
  if (!context.loaders) return {};
  if (count == context.loader_workers) return {.why_not = StrCat("the program loads with ", count, " workers already")};
  return count < context.loader_workers ? FewerWorkers(count, context, bottlenecks) : MoreWorkers(count, context);
}

// Two networks with layers of images for about half of their steps, on processors with AVX-512, became 1.33 and 1.38
// times as fast.
MachineHint ForLayout(const FixContext& context) {
  const double images = context.gpu ? 0 : context.shares.image_layers.value_or(0);
  if (images < kMinImages) return {};
  return {.speedup = 1 / (1 - kKeptOfLayout * images)};
}

}  // namespace

bool IsHintedByValue(const Fix& fix) { return fix.name == "threads" || fix.name == "workers"; }

MachineHint HintFor(const FixItem& item, const FixContext& context, std::span<const Bottleneck> bottlenecks) {
  if (item.fix->name == "channels_last") return ForLayout(context);
  const auto count = CountOf(item.value);
  if (!count) return {};
  if (item.fix->name == "threads") return ForThreads(*count, context, bottlenecks);
  if (item.fix->name == "workers") return ForWorkers(*count, context, bottlenecks);
  return {};
}

namespace {

std::string WhyNoPackage(const NeededPackage& package, const FixContext& context) {
  if (package.name.empty()) return "";
  if (context.gpu && context.compute_major > 0 &&
      std::pair(context.compute_major, context.compute_minor) < std::pair(package.compute_major, package.compute_minor))
    return StrCat(package.name, " is for GPUs from compute capability ", package.compute_major, ".",
                  package.compute_minor, " on");
  if (!context.packages) return "";
  const auto found = context.packages->find(package.name);
  if (found == context.packages->end()) return StrCat(package.name, " is not installed: ", package.install);
  const bool is_known = !found->second.empty() && found->second != "?";
  if (is_known && !package.version.empty() && !IsVersionAtLeast(found->second, package.version))
    return StrCat(package.name, " ", found->second, " is older than ", package.version, ": ", package.install);
  return "";
}

}  // namespace

std::string WhyNothingToChange(const Fix& fix, const FixContext& context) {
  if (std::string why = WhyNoPackage(fix.trial.needs.package, context); !why.empty()) return why;
  if (fix.trial.needs.operators.empty() || context.operators.empty()) return "";
  const bool is_recorded = std::ranges::any_of(context.operators, [&](const std::string& name) {
    return std::ranges::any_of(fix.trial.needs.operators,
                               [&](std::string_view part) { return name.find(part) != name.npos; });
  });
  return is_recorded ? "" : StrCat("the recorded steps have no ", fix.trial.needs.operators_are);
}

}  // namespace gapless::internal
