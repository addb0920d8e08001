// SPDX-License-Identifier: Apache-2.0
// The trial of a fix says when and how much: what the fix cures, and which of its values are worth a try on this
// machine. How a running training is changed, without an edit of its script, is in the agent's module of the same name:
// python/gapless/agent/gapless_agent/fixes/<name>.py.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/precision.h"
#include "predict/host_use.h"

namespace gapless::internal {

enum class Effort : uint8_t { kQuick, kMedium, kAdvanced };  // effort of a manual change: minutes, hours, days
std::string_view NameOf(Effort effort);                      // "quick win", "medium", "advanced"
std::string_view DurationOf(Effort effort);                  // "minutes", "hours", "days"

// Facts about the job before any fix is tried. An absent value is unknown.
struct FixContext {
  size_t cpus = 1;        // that the command may use: its affinity, and the quota of its control group
  size_t ranks = 1;       // that train, on this machine
  bool gpu = false;       // kernels were recorded
  int compute_major = 0;  // compute capability of the first GPU; 0: unknown
  int compute_minor = 0;
  bool bf16_cpu = false;                 // the processor multiplies bfloat16 itself
  std::string torch_version{};           // "2.15.0"; empty: unknown
  bool all_values = false;               // the whole grid was asked for
  std::optional<size_t> loaders{};       // DataLoaders that the program read from
  std::optional<bool> has_optimizer{};   // an optimiser of torch.optim takes the steps
  size_t loader_workers = 0;             // workers of the data loader with the most workers
  std::optional<size_t> threads{};       // threads of host operators, in the program as it is
  std::optional<double> busy{};          // processors that the job keeps busy while it trains, of all its ranks here
  HostShares shares{};                   // shares of the recorded steps
  std::vector<std::string> operators{};  // names of operators that were recorded; empty: unknown
  // Versions of the packages of kernels that the program could import, by distribution; absent: unknown.
  std::optional<std::map<std::string, std::string, std::less<>>> packages{};
  bool inference = false;  // the user says that it answers requests
};

// The values to try, best first; each later value is tried with the first one on. "" means "without a value". `why_not`
// is the reason for an empty list.
struct FixValues {
  std::vector<std::string> values{};
  std::string why_not{};
  std::vector<std::string> alone{};  // tried by themselves, whatever becomes of the first of `values`
};

// Returns true if the fix accepts the value. Recipes come from strangers; a rejected value never reaches the agent.
struct ValueGrammar {
  std::string_view words{};                           // "a whole number from 1 to 4096"
  bool (*accepts)(std::string_view value) = nullptr;  // null: any plain value (optimize/fix_item.h)
};

// The steps of a block in which a fix is on or off, within one process (optimize/live_blocks.h).
struct BlockShape {
  size_t settle = 1;  // steps after a switch that are not counted
  size_t round = 1;   // the number of counted steps is a multiple of this
};

// A TrialChoice says how the fixes that are tried are chosen, and in which order they are tried.
struct TrialChoice {
  int order = 0;                                  // fixes with a lower order are applied first; no two fixes share one
  std::span<const std::string_view> cures{};      // ids of rules
  std::span<const std::string_view> conflicts{};  // fixes that must not be on together with it
  double prior = 1;                               // typical speedup where nothing can be predicted; 1: unknown
  bool predictable = true;                        // false: its model takes another value
  bool blind = false;                             // worth a trial even if no finding supports it
  bool slow_start = false;                        // a run with it begins minutes later: it is tried last
  std::span<const std::string_view> after{};      // fixes that are decided before it: it must beat what they give
};

// A package that the fix takes its kernels from. It is never installed.
struct NeededPackage {
  std::string_view name{};                   // its distribution; empty: none is needed
  std::string_view version{};                // the least, "0.5"
  std::string_view install{};                // the command that installs it, or where one learns how
  int compute_major = 0, compute_minor = 0;  // least compute capability of the GPU; 0: any
};

// The parts of a program without which the fix changes nothing.
struct TrialNeeds {
  bool loader = false;                            // a DataLoader
  bool optimizer = false;                         // an optimiser of torch.optim
  std::span<const std::string_view> operators{};  // an operator with one of these in its name; empty: none is needed
  std::string_view operators_are{};               // "convolution": continues "the recorded steps have no"
  NeededPackage package{};
};

// The programs that a fix changes: those that train, those that only call a model to answer requests, or both.
enum class Changes : uint8_t { kTraining, kBoth, kInference };

// The switch of a fix within a running program.
struct LiveSwitch {
  bool between_steps = false;  // may be switched between two steps
  // Returns the blocks of a value in a program with steps of `step_ms` and a loader with `loader_workers`. Null: the
  // default.
  BlockShape (*block_shape)(std::string_view value, size_t loader_workers, double step_ms) = nullptr;
};

// Says how a fix is tried. A fix without one can only be predicted.
struct FixTrial {
  std::string_view value{};  // VALUE of `name=VALUE` in --only: "N"; "[N]": may be left out; "": takes none
  ValueGrammar grammar{};    // grammar of VALUE, from fixes/common/values.h
  // A paragraph for docs: when it helps, what it changes, what it risks, prior gain with source.
  std::string_view why{};
  Effort effort = Effort::kQuick;
  TrialChoice choice{};
  TrialNeeds needs{};
  LiveSwitch live{};
  Precision (*precision_of)(std::string_view value) = nullptr;  // that it computes in; null: fp32, or as the program
  FixValues (*values)(const FixContext& context) = nullptr;     // null: it cannot be tried
  // Variables of the environment, "NAME=VALUE"; a variable that the user has set wins. Null: none.
  std::vector<std::string> (*environment)(const FixContext& context, std::string_view value) = nullptr;

  Changes changes = Changes::kTraining;

  bool needs_value() const { return !value.empty() && !value.starts_with('['); }
};

// For values(): always, with no value. And: none, for this reason.
FixValues Always(const FixContext& context);
FixValues NoneBecause(std::string_view reason);
// Processors for each rank of this machine, 1 at least.
size_t CpusPerRank(const FixContext& context);
// Returns the processors that loading one batch keeps busy: 1 where it computes, almost 0 where it waits for a disk or
// a network. 1 where steps hardly wait for batches, or where that is not known.
double CpusOfLoading(const FixContext& context);
// Returns how many batches the processors of a rank can load at once: CpusPerRank(), and more where loading waits.
size_t LoadersPerRank(const FixContext& context);
// Returns true if a dotted version such as "0.8.5" or "2.15.0+cpu" is not below `least`; false for one without digits.
bool IsVersionAtLeast(std::string_view version, std::string_view least);
// Returns true if the version, such as "2.15.0", is at least `major`.`minor`; false for an unknown version.
bool TorchIsAtLeast(const FixContext& context, int major, int minor);

}  // namespace gapless::internal
