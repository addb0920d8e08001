// SPDX-License-Identifier: Apache-2.0
// A fix is a change to a running training that needs no edit of its script. This room knows *when and how much*: what a
// fix cures, what it may change beside the time, which values are worth a try on this machine. *How* it is done knows
// the agent: python/gapless/agent/gapless_agent/fixes/<name>.py, of the same name.
//
// To add one: write src/optimize/fixes/<name>.cc, end it with
//   FIX(name) = {FROM_CATALOGUE(kName), .why = "…", .effort = …, .values = Values};
// with its entry of fixes/catalogue.h, and write the Python file. A test holds the two lists together. Where predict
// has a what-if of that name, it is the fix's preview.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "fixes/catalogue.h"
#include "optimize/host_shares.h"
#include "validate/parity.h"

namespace gapless::internal {

enum class Effort : uint8_t { kQuick, kMedium, kAdvanced };  // effort of a manual change: minutes, hours, days
std::string_view NameOf(Effort effort);                      // "quick win", "medium", "advanced"

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
  HostShares shares{};                   // shares of the recorded steps
  std::vector<std::string> operators{};  // names of operators that were recorded; empty: unknown
};

// The values to try, best first; each later value is tried with the first one on. "" means "without a value". `why_not`
// is the reason for an empty list.
struct FixValues {
  std::vector<std::string> values{};
  std::string why_not{};
  std::vector<std::string> apart{};  // tried by themselves, whatever becomes of the first of `values`
};

// Returns true if the fix accepts the value. Recipes come from strangers; a rejected value never reaches the agent.
struct ValueGrammar {
  std::string_view words{};                           // "a whole number from 1 to 4096"
  bool (*accepts)(std::string_view value) = nullptr;  // null: any of IsPlainValue()
};

// The steps of a block in which a fix is on or off, within one process (live_blocks.h).
struct BlockShape {
  size_t settle = 1;  // steps after a switch that are not counted
  size_t round = 1;   // the number of counted steps is a multiple of this
};

// A Fix is the entry of one change in the catalogue. Entries are constants; a user's own fix is made at run time.
struct Fix {
  std::string_view name;  // FROM_CATALOGUE; equals the file name, the Python module's and, if any, the what-if's
  std::string_view help;
  Safety safety = Safety::kExact;
  std::string_view value{};  // VALUE of `name=VALUE` in --only: "N"; "[N]": may be left out; "": takes none
  ValueGrammar grammar{};    // grammar of VALUE, from common/values.h
  // A paragraph for docs: when it helps, what it changes, what it risks, prior gain with source.
  std::string_view why{};
  Safety (*class_of)(std::string_view value) = nullptr;  // what it may change with a value; null: by the catalogue
  Effort effort = Effort::kQuick;
  bool blind = false;                                           // worth a trial even if no finding supports it
  bool slow_start = false;                                      // a run with it begins minutes later: it is tried last
  Precision (*precision_of)(std::string_view value) = nullptr;  // that it computes in; null: fp32, or as the program
  bool predictable = true;                                      // false: the what-if of its name takes another value
  bool needs_loader = false;     // changes a DataLoader, and nothing where the program has none
  bool needs_optimizer = false;  // changes an optimiser of torch.optim, likewise
  bool live = false;             // may be switched between two steps of a running program
  // Returns the blocks of a value in a program with steps of `step_ms` and a loader with `loader_workers`. Null: the
  // default.
  BlockShape (*block_shape)(std::string_view value, size_t loader_workers, double step_ms) = nullptr;
  std::span<const std::string_view> operators{};  // parts of the names of operators, one of which it needs; empty: any
  std::string_view operators_are{};               // "convolution": continues "the recorded steps have no"
  int order = 0;                                  // order of application: lower ones are applied first
  std::span<const std::string_view> cures{};      // ids of rules
  std::span<const std::string_view> conflicts{};  // fixes that must not be on together with it
  double prior = 1;                               // typical speedup where nothing can be predicted; 1: unknown
  FixValues (*values)(const FixContext& context) = nullptr;
  std::string_view own_file{};  // Python file of a user's own fix
  // Variables of the environment, "NAME=VALUE"; a variable that the user has set wins. Null: none.
  std::vector<std::string> (*environment)(const FixContext& context, std::string_view value) = nullptr;
};

#define FIX(n)              \
  extern const Fix n##_fix; \
  constinit const Fix n##_fix

std::span<const Fix* const> AllFixes();     // sorted by name; generated from the folder
const Fix* FindFix(std::string_view name);  // null: no fix has that name

// A fix with its value, as one types it: `workers=4`, `tf32`.
struct FixItem {
  const Fix* fix = nullptr;
  std::string value{};
  std::string ToString() const;
  Safety Class() const;
};
// `workers=4`, `tf32`. An error: there is no such fix, the value is missing where one is needed, given where there is
// none, or none that the fix takes.
// `own`: the user's own fixes, which outlive the item.
Result<FixItem> ParseFixItem(std::string_view text, std::span<const Fix> own = {});
// At most 100 letters, digits and any of ._-+: what the value of any fix is made of.
bool IsPlainValue(std::string_view value);
// "workers[=N]", as one types it.
std::string UsageOf(const Fix& fix);

// For values(): always, with no value. And: none, for this reason.
FixValues Always(const FixContext& context);
FixValues NoneBecause(std::string_view reason);
// Processors for each rank of this machine, 1 at least.
size_t CpusPerRank(const FixContext& context);
// Returns true if the version, such as "2.15.0", is at least `major`.`minor`; false for an unknown version.
bool TorchIsAtLeast(const FixContext& context, int major, int minor);

// The list of `gapless optimize --list`.
std::string FixesText();
extern const TypeInfo kFixesDocument;
std::string FixesJson();

}  // namespace gapless::internal
