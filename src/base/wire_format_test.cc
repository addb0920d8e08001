// SPDX-License-Identifier: Apache-2.0
#include "base/wire_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gapless::internal {
namespace {

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out += static_cast<char>(byte);
  return out;
}

TEST(WireFormat, EveryKindOfField) {
  const std::string message = Bytes({0x08, 0x96, 0x01,                                   // 1: 150
                                     0x12, 2,    'h',  'i',                              // 2: "hi"
                                     0x1D, 0,    0,    0x80, 0x3F,                       // 3: 1.0 of 4 bytes
                                     0x21, 0,    0,    0,    0,    0,   0,   0,   0x40,  // 4: 2.0 of 8 bytes
                                     0xF8, 0x07, 255,  255,  255,  255, 255, 255, 255,  255, 255, 1});  // 127: -1
  WireReader fields(message);
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.number(), 1U);
  EXPECT_EQ(fields.Int(), 150);
  ASSERT_TRUE(fields.Next());
  EXPECT_TRUE(fields.is_bytes());
  EXPECT_EQ(fields.bytes(), "hi");
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.Real(), 1.0);
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.Real(), 2.0);
  EXPECT_TRUE(fields.bytes().empty());
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.number(), 127U);
  EXPECT_EQ(fields.Int(), -1);
  EXPECT_FALSE(fields.Next());
  EXPECT_FALSE(fields.damaged());
}

TEST(WireFormat, AnEmptyMessageHasNoField) {
  WireReader fields("");
  EXPECT_FALSE(fields.Next());
  EXPECT_FALSE(fields.damaged());
}

TEST(WireFormat, NothingLeavesItsMessage) {
  const std::vector<std::string> damaged = {
      Bytes({0x12, 3, 'h', 'i'}),                                          // a text longer than the message
      Bytes({0x12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0}),    // a length of 2^64 - 1
      Bytes({0x08}),                                                       // no value
      Bytes({0x08, 0x80}),                                                 // a number without its end
      Bytes({0x08, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1}),  // one of 11 bytes
      Bytes({0x21, 1, 2, 3}),                                              // 3 bytes of 8
      Bytes({0x1D, 1, 2, 3}),                                              // 3 bytes of 4
      Bytes({0x00, 1}),                                                    // a field of the number 0
      Bytes({0x0B}),                                                       // a wire type that nobody writes
      Bytes({0x0F, 0}),                                                    // one that there is not
  };
  for (const std::string& message : damaged) {
    WireReader fields(message);
    EXPECT_FALSE(fields.Next()) << ::testing::PrintToString(message);
    EXPECT_TRUE(fields.damaged());
    EXPECT_FALSE(fields.Next());
  }
}

TEST(WireFormat, WhatStandsBeforeDamageIsGood) {
  const std::string message = Bytes({0x08, 7, 0x12, 9, 'x'});
  WireReader fields(message);
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.Int(), 7);
  EXPECT_FALSE(fields.Next());
  EXPECT_TRUE(fields.damaged());
}

TEST(WireFormat, MessagesOneAfterTheOther) {
  const std::string bytes = Bytes({2, 'a', 'b', 0, 3, 'c'});
  std::string_view rest = bytes, message;
  ASSERT_TRUE(TakeMessage(rest, message));
  EXPECT_EQ(message, "ab");
  ASSERT_TRUE(TakeMessage(rest, message));
  EXPECT_EQ(message, "");
  EXPECT_FALSE(TakeMessage(rest, message));
  EXPECT_EQ(rest.size(), 2U);  // what could not be taken is left
}

}  // namespace
}  // namespace gapless::internal
