// SPDX-License-Identifier: Apache-2.0
// The values of a pickle, as readers see them while it is read and afterwards.
#include <algorithm>

#include "ingest/pickle.h"
#include "trace/ids.h"

namespace gapless::internal {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kMaxSpare = 64, kMaxSpareItems = 1024;

}  // namespace

std::span<const PickleValue> Pickle::Items(PickleValue value) const {
  if (value.kind != Kind::kList && value.kind != Kind::kDict) return {};
  if (value.index == pending_) return pending_items_;
  const Values* const items = containers_[value.index].items();
  return items != nullptr ? std::span<const PickleValue>(*items) : std::span<const PickleValue>();
}

std::string_view Pickle::Text(PickleValue value) const { return value.kind == Kind::kText ? texts_[value.index] : ""; }

PickleValue Pickle::Get(PickleValue dictionary, std::string_view key) const {
  if (dictionary.kind != Kind::kDict) return {};
  const std::span<const PickleValue> items = Items(dictionary);
  for (size_t i = items.size(); i >= 2; i -= 2)
    if (Text(items[i - 2]) == key && items[i - 2].kind == Kind::kText) return items[i - 1];
  return {};
}

int64_t Pickle::IntAt(PickleValue dictionary, std::string_view key) const {
  const PickleValue value = Get(dictionary, key);
  return value.kind == Kind::kInt ? value.integer : kAbsent;
}

void Pickle::Fold(PickleValue container, int64_t number) {
  if (container.kind != Kind::kList && container.kind != Kind::kDict) return;
  Container& of = containers_[container.index];
  if (of.items() != nullptr && spare_.size() < kMaxSpare && of.items()->capacity() <= kMaxSpareItems) {
    of.items()->clear();
    spare_.push_back(of.Release());
  }
  of.Own(nullptr);
  of.Fold(number);
  if (container.index == pending_) pending_items_ = {};
}

void Pickle::TakeFirst(PickleValue list, size_t count) {
  if (list.kind != Kind::kList) return;
  Values* const items = containers_[list.index].items();
  if (items != nullptr) items->erase(items->begin(), items->begin() + static_cast<ptrdiff_t>(count));
}

Pickle::Values& Pickle::ItemsOf(Container& container) {
  if (container.is_folded()) container = Container();
  if (container.items() != nullptr) return *container.items();
  if (spare_.empty()) {
    container.Own(std::make_unique<Values>());
  } else {
    container.Own(std::move(spare_.back()));
    spare_.pop_back();
  }
  return *container.items();
}

int64_t Pickle::Folded(PickleValue value) const {
  if (value.kind != Kind::kList && value.kind != Kind::kDict) return kAbsent;
  const int64_t number = containers_[value.index].folded();
  return number < 0 ? kAbsent : number;
}

}  // namespace gapless::internal
