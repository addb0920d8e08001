// SPDX-License-Identifier: Apache-2.0
// Collects the agents' reports on fixes while a command runs, one entry for each fix and effect, with the processes
// that reported it. Equal reports of several ranks are said once.
#include "cli/commands/run/fix_watch.h"

#include <algorithm>
#include <cstring>

#include "base/strings.h"
#include "optimize/recipe_use.h"

namespace gapless::internal {
namespace {

std::string ItemOf(const Change& change) {
  return change.value.empty() ? change.fix : StrCat(change.fix, "=", change.value);
}

}  // namespace

// Compares PyTorch's version with the recipe's at the first training process: only then is it known.
void FixWatch::TakeVersions(const wire::RingHeader& header) {
  if (saw_training_) return;
  saw_training_ = true;
  const std::string_view versions(header.versions, ::strnlen(header.versions, sizeof header.versions));
  for (const std::string& sentence : VersionDifferences(recipe_, versions)) say_(sentence);
}

// Ignores processes that do not train, such as workers of a DataLoader: fixes are switched on in training only.
void FixWatch::OnRecord(AgentProcess& process, const wire::RingRecord& record) {
  const wire::RingHeader& header = process.ring.header();
  if (header.role != wire::AgentRole::kTrains) return;
  TakeVersions(header);
  if (record.kind != wire::RecordKind::kFix) return;
  auto change = ParseChange(process.texts[record.a], record.value);
  if (!change) return;
  const auto same = [&](const ReportedFix& report) {
    return report.change.fix == change->fix && report.change.value == change->value &&
           report.change.state == change->state && report.change.what == change->what;
  };
  auto found = std::ranges::find_if(reports_, same);
  if (found == reports_.end()) {
    say_(SentenceOf(*change));
    found = reports_.insert(reports_.end(), ReportedFix{.change = std::move(*change)});
  }
  found->pids.insert(header.pid);
}

// Compares names only: a fix may report another value than it was asked for.
std::vector<std::string> FixWatch::Unreported(const std::vector<std::string>& items) const {
  std::vector<std::string> unreported;
  for (const std::string& item : items) {
    const std::string_view name = std::string_view(item).substr(0, item.find('='));
    const auto is_it = [&](const ReportedFix& report) { return report.change.fix == name; };
    if (std::ranges::none_of(reports_, is_it)) unreported.push_back(item);
  }
  return unreported;
}

std::string SentenceOf(const Change& change) {
  const std::string item = ItemOf(change);
  switch (change.state) {
    case ChangeState::kRefused: return StrCat(item, " is not on: ", change.what);
    case ChangeState::kOff: return StrCat(item, " is off again: ", change.what);
    case ChangeState::kOn: break;
  }
  return change.what.empty() ? StrCat(item, " is on") : StrCat(item, ": ", change.what);
}

}  // namespace gapless::internal
