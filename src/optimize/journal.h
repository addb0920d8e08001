// SPDX-License-Identifier: Apache-2.0
// The journal of decisions, one JSON object a line, which lets an interrupted planner continue. A decision holds for
// the fixes that were on when it was made.
#pragma once

#include <string>
#include <vector>

#include "optimize/planner.h"

namespace gapless::internal {

class DecisionJournal : public DecisionKeeper {
 public:
  // `key` says what is optimised and how: a file of another key is begun anew. A last line that breaks off is left out.
  // `own`: the user's own fixes, which outlive it.
  static Result<DecisionJournal> Open(std::string path, const std::string& key, bool anew, std::span<const Fix> own);

  const Decision* Find(const FixItem& item, const FixSet& beside) const override;
  void Add(const Decision& decision, const FixSet& beside) override;
  std::optional<double> SlowStartS() const override;
  size_t found() const { return found_; }  // decisions of an earlier start
  // The first failure to write; the planner goes on without.
  const std::string& failure() const { return failure_; }

 private:
  struct Entry {
    std::string beside;
    Decision decision;
  };
  DecisionJournal() = default;
  std::string path_{}, failure_{};
  std::vector<Entry> entries_{};
  size_t found_ = 0;
};

}  // namespace gapless::internal
