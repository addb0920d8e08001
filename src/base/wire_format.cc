// SPDX-License-Identifier: Apache-2.0
// Most numbers in messages have one byte, so that case comes first.
#include "base/wire_format.h"

#include <bit>
#include <cstddef>

namespace gapless::internal {

bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  if (!bytes.empty() && static_cast<unsigned char>(bytes.front()) < 0x80) {
    value = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    return true;
  }
  constexpr size_t kLongest = 10;
  uint64_t result = 0;
  for (size_t at = 0; at < bytes.size() && at < kLongest; ++at) {
    const uint64_t byte = static_cast<unsigned char>(bytes[at]);
    result |= (byte & 0x7F) << (7 * at);
    if (byte >= 0x80) continue;
    value = result;
    bytes.remove_prefix(at + 1);
    return true;
  }
  return false;
}

bool TakeMessage(std::string_view& bytes, std::string_view& message) {
  std::string_view rest = bytes;
  uint64_t size = 0;
  if (!TakeVarint(rest, size) || size > rest.size()) return false;
  message = rest.substr(0, size);
  bytes = rest.substr(size);
  return true;
}

bool WireReader::TakeFixed(size_t bytes) {
  if (rest_.size() < bytes) return false;
  value_ = 0;
  for (size_t at = 0; at < bytes; ++at)
    value_ |= static_cast<uint64_t>(static_cast<unsigned char>(rest_[at])) << (8 * at);
  rest_.remove_prefix(bytes);
  return true;
}

bool WireReader::Next() {
  if (damaged_ || rest_.empty()) return false;
  uint64_t key = 0;
  damaged_ = true;  // until the field has been read
  if (!TakeVarint(rest_, key) || key >> 3 == 0 || key >> 3 > UINT32_MAX) return false;
  number_ = static_cast<uint32_t>(key >> 3);
  type_ = static_cast<Type>(key & 7);
  value_ = 0, bytes_ = {};
  switch (type_) {
    case Type::kVarint: damaged_ = !TakeVarint(rest_, value_); break;
    case Type::kFixed64: damaged_ = !TakeFixed(8); break;
    case Type::kBytes: damaged_ = !TakeMessage(rest_, bytes_); break;
    case Type::kFixed32: damaged_ = !TakeFixed(4); break;
    default: break;
  }
  return !damaged_;
}

double WireReader::Real() const {
  if (type_ == Type::kFixed64) return std::bit_cast<double>(value_);
  if (type_ == Type::kFixed32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value_)));
  return static_cast<double>(Int());
}

}  // namespace gapless::internal
