// SPDX-License-Identifier: Apache-2.0
// Column<T>: one immutable column of a table. Its memory is owned, or belongs to a mapped cache file; readers see no
// difference. Copies share the memory. A column whose rows all have one value stores it once: recorders leave many
// columns of a table out, and what they leave out is absent in every row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace gapless::internal {

// `bytes` of zeroed memory straight from the system, given back to it when the last owner goes. `used_at_once`: all of
// it is about to be written, so its pages are fetched in one go.
std::shared_ptr<std::byte> AllocatePages(size_t bytes, bool used_at_once = false);

// Returns true if both have the same bits: unlike ==, it tells 0 from -0, and NaN is itself.
template <class T>
bool SameBits(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
  } else {
    return a == b;
  }
}

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
  // `size` elements of one value, which is stored once.
  static Column Same(size_t size, T value) {
    Column column(std::vector<T>{value});
    column.size_ = size;
    column.mask_ = 0;
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
  // `size` elements of the value that lives in such memory.
  static Column SameView(const T& value, size_t size, std::shared_ptr<const void> owner) {
    Column column = View({&value, 1}, std::move(owner));
    column.size_ = size;
    column.mask_ = 0;
    return column;
  }

  // Returns `count` elements from `first` on, in the same memory.
  Column Part(size_t first, size_t count) const {
    Column part = *this;
    part.data_ += first & mask_;
    part.size_ = count;
    return part;
  }

  // An Iterator names a row of a column that outlives it.
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;
    Iterator() = default;
    Iterator(const Column* column, size_t row) : column_(column), row_(static_cast<ptrdiff_t>(row)) {}
    reference operator*() const { return (*column_)[static_cast<size_t>(row_)]; }
    pointer operator->() const { return &**this; }
    reference operator[](ptrdiff_t by) const { return *(*this + by); }
    Iterator& operator++() { return ++row_, *this; }
    Iterator& operator--() { return --row_, *this; }
    Iterator operator++(int) { return {column_, static_cast<size_t>(row_++)}; }
    Iterator operator--(int) { return {column_, static_cast<size_t>(row_--)}; }
    Iterator& operator+=(ptrdiff_t by) { return row_ += by, *this; }
    Iterator& operator-=(ptrdiff_t by) { return row_ -= by, *this; }
    friend Iterator operator+(Iterator at, ptrdiff_t by) { return at += by; }
    friend Iterator operator+(ptrdiff_t by, Iterator at) { return at += by; }
    friend Iterator operator-(Iterator at, ptrdiff_t by) { return at -= by; }
    friend ptrdiff_t operator-(const Iterator& a, const Iterator& b) { return a.row_ - b.row_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.row_ == b.row_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.row_ <=> b.row_; }

   private:
    const Column* column_ = nullptr;
    ptrdiff_t row_ = 0;
  };

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t row) const { return data_[row & mask_]; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }
  // The values as they are stored: one for each row, or one for all.
  bool same() const { return mask_ == 0; }
  std::span<const T> stored() const { return {data_, same() ? 1 : size_}; }
  // Returns this column with a value for each row.
  Column Whole() const { return same() ? OfSize(size_, *data_) : *this; }
  // To be called only while the trace is being built, before anyone else has seen it: copies would change, too. The
  // column has a value for each row from then on.
  T* mutable_data() {
    if (same()) *this = Whole();
    return data_;
  }
  std::shared_ptr<const void> owner() const { return owner_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t mask_ = ~size_t{0};  // what counts of a row's number; 0: all rows are the first
  std::shared_ptr<const void> owner_;
};

}  // namespace gapless::internal
