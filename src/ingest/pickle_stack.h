// SPDX-License-Identifier: Apache-2.0
// Containers that the machine of pickles (pickle.cc) works on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ingest/pickle.h"

namespace gapless::internal {

// The stack of values. It grows as a vector does, but what is pushed is written without a call.
class PickleStack {
 public:
  [[gnu::always_inline]] void push_back(PickleValue value) {
    if (size_ == values_.size()) Grow();
    values_[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(size_t size) { size_ = size; }  // to fewer
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  PickleValue& back() { return values_[size_ - 1]; }
  PickleValue& operator[](size_t at) { return values_[at]; }
  std::span<const PickleValue> From(size_t at) const { return std::span(values_).subspan(at, size_ - at); }

 private:
  static constexpr size_t kFirst = 4096;
  [[gnu::noinline]] void Grow() { values_.resize(std::max(kFirst, 2 * size_)); }
  std::vector<PickleValue> values_;
  size_t size_ = 0;
};

// A PickleMemo is what was remembered: the kind and the place of a text or container. Whole numbers and the like, which
// Python never remembers, are kept apart.
class PickleMemo {
 public:
  size_t size() const { return values_.size(); }
  void Set(uint64_t number, PickleValue value) {
    if (number >= values_.size()) values_.resize(number + 1);
    const bool apart = value.integer != 0;
    if (apart) apart_.push_back(value);
    values_[number] = {apart ? static_cast<uint32_t>(apart_.size() - 1) : value.index, value.kind, apart};
  }
  [[gnu::always_inline]] PickleValue Get(uint64_t number) const {
    const Value& value = values_[number];
    return value.apart ? apart_[value.index] : PickleValue{.kind = value.kind, .index = value.index};
  }

 private:
  struct Value {
    uint32_t index = 0;
    PickleValue::Kind kind = PickleValue::Kind::kNone;
    bool apart = false;
  };
  std::vector<Value> values_;
  std::vector<PickleValue> apart_;
};

}  // namespace gapless::internal
