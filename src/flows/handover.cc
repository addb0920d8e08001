// SPDX-License-Identifier: Apache-2.0
// Writes the recipe, the patch and the candidate of an optimisation.
//
// Files of an earlier start are renamed to "earlier.json" and "earlier.patch" first, also if this start proves nothing:
// a folder never holds a recipe that its newest journal does not support. Everything written names the command with its
// secrets redacted.
#include "flows/handover.h"

#include <algorithm>
#include <filesystem>

#include "base/redact.h"
#include "base/strings.h"
#include "collect/files.h"
#include "optimize/patch/checkout_root.h"
#include "optimize/patch_check.h"
#include "optimize/recipe.h"

namespace gapless::internal {
namespace {

// Describes an accepted fix for the recipe; `what` is the first change that the fix really switched on.
RecipeFix RecipeFixOf(const Decision& decision) {
  RecipeFix fix{.item = decision.item.ToString(),
                .own = !decision.item.fix->own_file.empty(),
                .safety = std::string(ToString(decision.item.Class()))};
  for (const Change& change : decision.changes)
    if (change.state == ChangeState::kOn && fix.what.empty()) fix.what = change.what;
  if (decision.predicted) fix.predicted = decision.predicted->expected;
  if (decision.measured)
    fix.low = decision.measured->low, fix.measured = decision.measured->expected, fix.high = decision.measured->high;
  return fix;
}

// Returns the recipe of all accepted fixes, in the order they were accepted (where they are not proved also of those
// that were ahead), with the machine it was made on: `gapless
// run --recipe` needs the first, a reader who wonders about another speedup needs the second.
Recipe RecipeOf(const std::vector<std::string>& command, const Optimized& result, const FixContext& context,
                const RunSample& sample) {
  Recipe recipe{.command = RedactCommand(command)};
  recipe.proved = IsProved(result);
  FixSet all = result.accepted;
  for (const Decision& decision : result.decisions)
    if (decision.outcome == FixOutcome::kAccepted) recipe.fixes.push_back(RecipeFixOf(decision));
  for (const Untried& ahead : recipe.proved ? std::vector<Untried>{} : result.ahead) {
    const auto same = [&](const Decision& decision) { return decision.item.ToString() == ahead.item.ToString(); };
    const auto decision = std::ranges::find_if(result.decisions, same);
    if (decision == result.decisions.end() || all.ConflictWith(*ahead.item.fix) != nullptr) continue;
    if (all.Has(ahead.item.fix->name)) continue;  // another value of it, which promises more
    all = all.With(ahead.item);
    recipe.fixes.push_back(RecipeFixOf(*decision));
  }
  for (auto& [name, value] : all.Environment(context)) recipe.environment[name] = value;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) recipe.made_on[key] = value;
  };
  add("cpu", sample.host.cpu);
  add("versions", sample.versions);
  add("gpu", sample.host.gpus.empty() ? "" : sample.host.gpus[0].model);
  add("driver", sample.host.nvidia_driver);
  add("gapless", GAPLESS_VERSION);
  if (result.speedup)
    recipe.low = result.speedup->low, recipe.speedup = result.speedup->expected, recipe.high = result.speedup->high;
  return recipe;
}

// Writes the patch into the handover, and tests it.
void MakePatch(const HandoverOrder& order, const Optimized& result, const RunSample& sample, Handover& handover) {
  std::vector<Change> changes;
  for (const Decision& decision : result.decisions)
    if (decision.outcome == FixOutcome::kAccepted)
      changes.insert(changes.end(), decision.changes.begin(), decision.changes.end());
  std::error_code error;
  const std::string here = std::filesystem::canonical(".", error).string();
  const std::string root = CheckoutRoot(order.command, error ? Absolute(".") : here, changes);
  handover.patch = WritePatch(changes, root);
  if (root != here) handover.patch_root = root;
  CheckPatch({.root = root,
              .request = order.request,
              .steps = sample.source == SampleSource::kSteps ? sample.step_ns.size() : 0,
              .run_s = SecondsToTryPatch(sample),
              .left_s = order.left_s},
             handover.patch);
}

// Renames the recipe and the patch of an earlier start, which say nothing of this result.
void PutAside(const std::string& folder) {
  std::error_code error;
  for (const char* end : {".json", ".patch"})
    std::filesystem::rename(StrCat(folder, "/optimized", end), StrCat(folder, "/earlier", end), error);
  std::filesystem::remove(folder + "/candidate.json", error);
}

// Writes the recipe and, if the changes can be said as edits of the program, the patch. Both are readable by their
// owner only. The recipe is there before the patch is tested.
Result<void> WriteProved(const HandoverOrder& order, const Recipe& recipe, const Optimized& result,
                         const RunSample& sample, Handover& handover) {
  handover.recipe = StrCat(order.folder, "/optimized.json");
  GAPLESS_TRY(WriteRecipe(recipe, handover.recipe));
  MakePatch(order, result, sample, handover);
  if (handover.patch.diff.empty()) return {};
  handover.patch_file = StrCat(order.folder, "/optimized.patch");
  return WriteFileAtomically(handover.patch_file, handover.patch.diff, 0600);
}

}  // namespace

double SecondsToTryPatch(const RunSample& sample) {
  constexpr double kSteps = 5;
  double steps_s = 0;
  for (const int64_t step_ns : sample.step_ns) steps_s += static_cast<double>(step_ns) / 1e9;
  const double start_s = static_cast<double>(sample.wall_ns - sample.warmup_ns) / 1e9 - steps_s;
  const auto count = static_cast<double>(sample.step_ns.size());
  return std::max(0.0, start_s) + (count > 0 ? kSteps * steps_s / count : 0);
}

Result<Handover> HandOver(const HandoverOrder& order, const Optimized& result, const FixContext& context,
                          const RunSample& sample) {
  const Recipe recipe = RecipeOf(order.command, result, context, sample);
  PutAside(order.folder);
  Handover handover;
  if (recipe.proved) {
    GAPLESS_TRY(WriteProved(order, recipe, result, sample, handover));
  } else if ((order.keep_candidate && !result.accepted.empty()) || !result.ahead.empty()) {
    handover.candidate = StrCat(order.folder, "/candidate.json");
    GAPLESS_TRY(WriteRecipe(recipe, handover.candidate));
  }
  return handover;
}

}  // namespace gapless::internal
