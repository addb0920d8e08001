// SPDX-License-Identifier: Apache-2.0
// A message of FlatBuffers, in which Arrow describes what follows in a stream. Only what is written here: tables,
// texts, vectors, and vectors of pairs of integers.
//
// The usual builder writes backwards, so that what is referred to exists first. Here the parent comes first and its
// references are filled in when what they refer to is added, which is as valid: a reference leads forward, and the
// layout of a table may stand before it. Each field of a table takes eight bytes, so that none needs an alignment of
// its own; messages are small.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gapless::internal {

static_assert(std::endian::native == std::endian::little, "FlatBuffers and Arrow are little-endian");

class FlatBuffer {
 public:
  // The place of a reference within the buffer.
  using Place = size_t;
  struct Field {
    uint16_t id = 0;  // as in the schema: 0 for the first
    int64_t value = 0;
  };

  FlatBuffer() { Append<uint32_t>(0); }

  // The place of the reference to the root table.
  static constexpr Place kRoot = 0;

  // Adds a table to which `from` refers. Returns the places of its fields, in their order; those of references have
  // the value 0 until something is added there.
  std::vector<Place> AddTable(Place from, std::initializer_list<Field> fields) {
    uint16_t ids = 0;
    for (const Field& field : fields) ids = std::max<uint16_t>(ids, static_cast<uint16_t>(field.id + 1));
    Align(2, 0);
    const size_t layout = bytes_.size();
    Append(static_cast<uint16_t>(4 + 2 * ids));
    Append(static_cast<uint16_t>(kSlot / 2 + kSlot * fields.size()));
    std::vector<uint16_t> offsets(ids);
    size_t at = kSlot / 2;
    for (const Field& field : fields) offsets[field.id] = static_cast<uint16_t>(std::exchange(at, at + kSlot));
    for (const uint16_t offset : offsets) Append(offset);
    Align(kSlot, kSlot / 2);
    Refer(from);
    Append(static_cast<int32_t>(bytes_.size() - layout));
    std::vector<Place> places;
    for (const Field& field : fields) {
      places.push_back(bytes_.size());
      Append(field.value);
    }
    return places;
  }

  void AddText(Place from, std::string_view text) {
    Align(4, 0);
    Refer(from);
    Append(static_cast<uint32_t>(text.size()));
    bytes_.append(text).push_back('\0');
  }

  // A vector of references, to be filled in.
  std::vector<Place> AddVector(Place from, size_t size) {
    Align(4, 0);
    Refer(from);
    Append(static_cast<uint32_t>(size));
    std::vector<Place> places;
    for (size_t i = 0; i < size; ++i) {
      places.push_back(bytes_.size());
      Append<uint32_t>(0);
    }
    return places;
  }

  void AddPairs(Place from, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
    Align(kSlot, kSlot / 2);
    Refer(from);
    Append(static_cast<uint32_t>(pairs.size()));
    for (const auto& [first, second] : pairs) {
      Append(first);
      Append(second);
    }
  }

  // Returns the buffer, of a size that is a multiple of eight.
  std::string Finish() && {
    Align(kSlot, 0);
    return std::move(bytes_);
  }

 private:
  static constexpr size_t kSlot = 8;

  template <class T>
  void Append(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    bytes_.append(bytes, sizeof(T));
  }
  // Fills up until the size leaves this remainder.
  void Align(size_t to, size_t remainder) {
    while (bytes_.size() % to != remainder) bytes_.push_back('\0');
  }
  // The next thing that is added stands at `from`.
  void Refer(Place from) {
    const auto distance = static_cast<uint32_t>(bytes_.size() - from);
    std::memcpy(bytes_.data() + from, &distance, sizeof(distance));
  }

  std::string bytes_;
};

}  // namespace gapless::internal
