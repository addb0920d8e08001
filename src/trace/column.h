// SPDX-License-Identifier: Apache-2.0
// Column<T>: one immutable column of a table. Its memory is owned, or belongs to a mapped cache file; readers see no
// difference. Copies share the memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace gapless::internal {

// `bytes` of zeroed memory straight from the system, given back to it when the last owner goes.
std::shared_ptr<std::byte> AllocatePages(size_t bytes);

// A Column costs no memory to copy: copies share the values, which are freed with the last copy. Several threads
// may read it once it is filled.
template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  Column() = default;
  Column(std::vector<T> values) {  // NOLINT(*-explicit-*): a column is its values
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    data_ = owner->data();
    size_ = owner->size();
    owner_ = std::move(owner);
  }
  // `size` zeroed elements, to be filled through mutable_data().
  static Column OfSize(size_t size) {
    Column column;
    auto pages = AllocatePages(size * sizeof(T));
    column.data_ = reinterpret_cast<T*>(pages.get());
    column.size_ = size;
    column.owner_ = std::move(pages);
    return column;
  }
  static Column OfSize(size_t size, T value) {
    Column column = OfSize(size);
    std::fill_n(column.data_, size, value);
    return column;
  }
  // Elements that live in memory kept alive by `owner` (a mapped file). They are never written.
  static Column View(std::span<const T> values, std::shared_ptr<const void> owner) {
    Column column;
    column.data_ = const_cast<T*>(values.data());
    column.size_ = values.size();
    column.owner_ = std::move(owner);
    return column;
  }

  // Returns `count` elements from `first` on, in the same memory.
  Column Part(size_t first, size_t count) const {
    Column part = *this;
    part.data_ += first;
    part.size_ = count;
    return part;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t row) const { return data_[row]; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }
  // To be called only while the trace is being built, before anyone else has seen it: copies would change, too.
  T* mutable_data() { return data_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

}  // namespace gapless::internal
