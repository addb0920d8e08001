// SPDX-License-Identifier: Apache-2.0
// Lists fixes and finds them by name.
#include "predict/fix.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/strings.h"

namespace gapless::internal {
namespace {

template <class IsWanted>
std::vector<const Fix*> FixesThat(IsWanted is_wanted) {
  std::vector<const Fix*> fixes;
  std::ranges::copy_if(AllFixes(), std::back_inserter(fixes), is_wanted);
  return fixes;
}

const Fix* FindIn(std::span<const Fix* const> fixes, std::string_view name) {
  const auto found = std::ranges::find(fixes, name, &Fix::name);
  return found == fixes.end() ? nullptr : *found;
}

// `value` as in FixModel::value.
std::string UsageOf(std::string_view name, std::string_view value) {
  if (value.empty()) return std::string(name);
  if (value.starts_with('[')) return StrCat(name, "[=", value.substr(1));
  return StrCat(name, "=", value);
}

}  // namespace

std::span<const Fix* const> FixesWithModel() {
  static const std::vector<const Fix*> kFixes = FixesThat([](const Fix* fix) { return fix->has_model(); });
  return kFixes;
}

std::span<const Fix* const> FixesWithTrial() {
  static const std::vector<const Fix*> kFixes = FixesThat([](const Fix* fix) { return fix->has_trial(); });
  return kFixes;
}

const Fix* FindFix(std::string_view name) { return FindIn(AllFixes(), name); }

const Fix* FindFixWithModel(std::string_view name) { return FindIn(FixesWithModel(), name); }

const Fix* FindFixWithTrial(std::string_view name) { return FindIn(FixesWithTrial(), name); }

Safety SafetyOf(const Fix& fix, std::string_view value) {
  return value.empty() || fix.safety_with == nullptr ? fix.safety : fix.safety_with(value);
}

Safety SafetyOf(const WhatIfItem& item) { return SafetyOf(*FindFix(item.name), item.value); }

Safety UsualSafetyOf(const Fix& fix) { return SafetyOf(fix, fix.model.needs_value() ? fix.model.value : ""); }

// Each of the two names the other, as a test of the catalogue checks; a user's own fix may name, and is not named.
bool Conflict(const Fix& one, const Fix& other) {
  return std::ranges::count(one.trial.choice.conflicts, other.name) > 0 ||
         std::ranges::count(other.trial.choice.conflicts, one.name) > 0;
}

std::string ModelUsageOf(const Fix& fix) { return UsageOf(fix.name, fix.model.value); }

std::string TrialUsageOf(const Fix& fix) { return UsageOf(fix.name, fix.trial.value); }

}  // namespace gapless::internal
