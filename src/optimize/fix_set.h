// SPDX-License-Identifier: Apache-2.0
// A FixSet holds fixes that are on together, each at most once. The fixes must outlive the set.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "optimize/fix_item.h"

namespace gapless::internal {

class FixSet {
 public:
  FixSet() = default;

  const std::vector<FixItem>& items() const { return items_; }  // in the order of applying
  bool empty() const { return items_.empty(); }
  bool Has(std::string_view name) const;
  // With one more; a value of the same fix is replaced.
  FixSet With(const FixItem& item) const;
  FixSet Without(std::string_view name) const;
  // The fix of this set that `fix` must not meet; null: none.
  const Fix* ConflictWith(const Fix& fix) const;

  // The loosest of all: that is what the losses are held to.
  Safety Loosest() const;
  // The coarsest precision that any of them computes in.
  Precision Claim() const;
  // Returns the items in the form that the agent parses.
  std::vector<std::string> Names() const;
  // Returns the Python files of the user's own fixes among them.
  std::vector<std::string> OwnFiles() const;
  // Returns the variables that the command is started with, without those that are set already.
  std::vector<std::pair<std::string, std::string>> Environment(const FixContext& context) const;
  std::string ToString() const;  // "workers=4, tf32"; "nothing" when empty

 private:
  std::vector<FixItem> items_{};
};

// Parses "workers,amp=bf16", with the user's own fixes among them; a fix without a value leaves it to the planner,
// even if it needs one. Returns an error that names the item.
Result<std::vector<FixItem>> ParseFixItems(std::string_view text, std::span<const Fix> own = {});

}  // namespace gapless::internal
