// SPDX-License-Identifier: Apache-2.0
// Listens to what fixes did inside the processes of a run.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "collect/launch.h"
#include "optimize/change.h"
#include "optimize/recipe.h"

namespace gapless::internal {

// The effect of one fix, with the number of processes that reported it.
struct ReportedFix {
  Change change;
  std::set<int64_t> pids{};
};

// Watches the rings of a run. The recipe outlives it; calls come from the launcher's thread.
class FixWatch : public Watcher {
 public:
  using Say = std::function<void(const std::string&)>;

  // `say` is given each sentence as soon as it is known, once for all ranks.
  FixWatch(const Recipe& recipe, Say say) : recipe_(recipe), say_(std::move(say)) {}
  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override;

  const std::vector<ReportedFix>& reports() const { return reports_; }
  // Returns true once a process has reported that it trains.
  bool saw_training() const { return saw_training_; }
  // Returns the items that no process reported.
  std::vector<std::string> Unreported(const std::vector<std::string>& items) const;

 private:
  void TakeVersions(const wire::RingHeader& header);

  const Recipe& recipe_;
  Say say_;
  std::vector<ReportedFix> reports_;
  bool saw_training_ = false;
};

// "workers=4: DataLoader: num_workers 0 → 4", "tf32 is not on: there is no GPU".
std::string SentenceOf(const Change& change);

}  // namespace gapless::internal
