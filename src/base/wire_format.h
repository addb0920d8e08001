// SPDX-License-Identifier: Apache-2.0
// The wire format of protocol buffers, read without their descriptions: a message is a sequence of fields, each a
// number, a wire type and a value. Nothing is copied, and no length leaves its message.
//
//   for (WireReader fields(message); fields.Next();)
//     if (fields.number() == 3) name = fields.bytes();
//   // afterwards fields.damaged() says if the message broke off
#pragma once

#include <cstdint>
#include <string_view>

namespace gapless::internal {

// Reads a number of 7 bits a byte, lowest first, from the front of `bytes`, and takes it off. Returns false if it does
// not end within 10 bytes, or within `bytes`; these are then as before.
bool TakeVarint(std::string_view& bytes, uint64_t& value);

// Takes a length and as many bytes off the front of `bytes`. Returns false if they are not all there.
bool TakeMessage(std::string_view& bytes, std::string_view& message);

// A WireReader walks over the fields of one message, which it refers to.
class WireReader {
 public:
  enum class Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit WireReader(std::string_view message) : rest_(message) {}

  // Goes to the next field. False at the end, and where the message is damaged: a length that leaves it, a number of
  // 0, a wire type that is none.
  bool Next();
  bool damaged() const { return damaged_; }

  uint32_t number() const { return number_; }
  Type type() const { return type_; }
  bool is_bytes() const { return type_ == Type::kBytes; }
  // The value of a number of any width, in two's complement; 0 of a field that is bytes.
  int64_t Int() const { return static_cast<int64_t>(value_); }
  uint64_t Unsigned() const { return value_; }
  // The value of a fixed field of 8 or 4 bytes as the floating-point number it may be.
  double Real() const;
  // A text, or a message; empty of a field that is a number.
  std::string_view bytes() const { return bytes_; }

 private:
  bool TakeFixed(size_t bytes);

  std::string_view rest_, bytes_{};
  uint64_t value_ = 0;
  uint32_t number_ = 0;
  Type type_ = Type::kVarint;
  bool damaged_ = false;
};

}  // namespace gapless::internal
