// SPDX-License-Identifier: Apache-2.0
// Implements sets of fixes: conflicts, the riskiest safety class, the claimed precision, and environment
// variables.
//
// Sets are small values that are copied: With() and Without() return another set. Items are kept in the order in
// which the agent applies them, because some build on others: mixed precision and the memory format come before
// compiling.
#include "optimize/fix_set.h"

#include <algorithm>
#include <cstdlib>

#include "base/strings.h"

namespace gapless::internal {
namespace {

const Fix* FindIn(std::string_view name, std::span<const Fix> own) {
  for (const Fix& fix : own)
    if (fix.name == name) return &fix;
  return FindFixWithTrial(name);
}

}  // namespace

bool FixSet::Has(std::string_view name) const {
  return std::ranges::any_of(items_, [&](const FixItem& item) { return item.fix->name == name; });
}

FixSet FixSet::With(const FixItem& item) const {
  FixSet more = Without(item.fix->name);
  more.items_.push_back(item);
  std::ranges::stable_sort(more.items_, {}, [](const FixItem& fix_item) { return fix_item.fix->trial.choice.order; });
  return more;
}

FixSet FixSet::Without(std::string_view name) const {
  FixSet fewer = *this;
  std::erase_if(fewer.items_, [&](const FixItem& item) { return item.fix->name == name; });
  return fewer;
}

const Fix* FixSet::ConflictWith(const Fix& fix) const {
  for (const FixItem& item : items_)
    if (Conflict(fix, *item.fix)) return item.fix;
  return nullptr;
}

Safety FixSet::Loosest() const {
  Safety loosest = Safety::kExact;
  for (const FixItem& item : items_) loosest = std::max(loosest, item.Class());
  return loosest;
}

Precision FixSet::Claim() const {
  Precision claim = Precision::kFp32;
  for (const FixItem& item : items_)
    if (item.fix->trial.precision_of != nullptr) claim = std::max(claim, item.fix->trial.precision_of(item.value));
  return claim;
}

std::vector<std::string> FixSet::Names() const {
  std::vector<std::string> names;
  for (const FixItem& item : items_) names.push_back(item.ToString());
  return names;
}

std::vector<std::string> FixSet::OwnFiles() const {
  std::vector<std::string> files;
  for (const FixItem& item : items_)
    if (!item.fix->own_file.empty()) files.emplace_back(item.fix->own_file);
  return files;
}

// A variable that the user has set himself wins, since it is part of the program that is compared.
std::vector<std::pair<std::string, std::string>> FixSet::Environment(const FixContext& context) const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const FixItem& item : items_) {
    if (item.fix->trial.environment == nullptr) continue;
    for (const std::string& line : item.fix->trial.environment(context, item.value)) {
      const size_t equals = line.find('=');
      std::string name = line.substr(0, equals);
      if (equals != line.npos && std::getenv(name.c_str()) == nullptr)
        all.emplace_back(std::move(name), line.substr(equals + 1));
    }
  }
  return all;
}

std::string FixSet::ToString() const { return items_.empty() ? "nothing" : Join(Names(), ", "); }

Result<std::vector<FixItem>> ParseFixItems(std::string_view text, std::span<const Fix> own) {
  std::vector<FixItem> items;
  for (const std::string_view word : Split(text, ',')) {
    if (const Fix* fix = FindIn(word, own)) {
      items.push_back({.fix = fix});
      continue;
    }
    GAPLESS_ASSIGN(auto item, ParseFixItem(word, own));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace gapless::internal
