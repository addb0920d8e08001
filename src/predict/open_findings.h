// SPDX-License-Identifier: Apache-2.0
// The findings that have no place in a plan yet, and what becomes of them when another one is placed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "predict/fix_prices.h"

namespace gapless::internal {

struct OpenFinding {
  Bottleneck found{};
  std::vector<Option> options{};  // none: its rule's estimate stands
  double alone = 1;               // what the best of the options brings by itself
  // The option that names the fix; null: it does not ask for it.
  const Option* Asks(std::string_view name) const;
};

// Puts the advice at that place first.
void AdviseFirst(size_t recommendation, Bottleneck& found);

// Moves the finding at `at` from `open` into `list`, below `head`, whose fix cures it.
void HangBelow(const std::string& head, size_t at, std::vector<OpenFinding>& open, std::vector<Bottleneck>& list);

// Moves from `open` into `list`, below the finding that cures them, those that ask for the same fix as `head`, which
// was placed last, and those without a fix that can be replayed whose time is part of what is cured. They have no gain
// of their own. `fix`: its name; empty: an estimate was placed, not a fix.
void HangOthers(const std::string& head, std::string_view fix, std::vector<OpenFinding>& open,
                std::vector<Bottleneck>& list);

}  // namespace gapless::internal
