// SPDX-License-Identifier: Apache-2.0
// Fixes to be tried, as one types them: `workers=4`, `tf32`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"
#include "predict/fix.h"

namespace gapless::internal {

struct FixItem {
  const Fix* fix = nullptr;
  std::string value{};
  std::string ToString() const;
  Safety Class() const { return SafetyOf(*fix, value); }
};
// An error: there is no such fix, the value is missing where one is needed, given where there is none, or none that the
// fix takes. `own`: the user's own fixes, which outlive the item.
Result<FixItem> ParseFixItem(std::string_view text, std::span<const Fix> own = {});
// At most 100 letters, digits and any of ._-+: what the value of any fix is made of.
bool IsPlainValue(std::string_view value);

// The list of `gapless optimize --list`.
std::string FixesText();
extern const TypeInfo kFixesDocument;
std::string FixesJson();

}  // namespace gapless::internal
