// SPDX-License-Identifier: Apache-2.0
// Tests of JsonWriter: separators, indents, escapes, exact numbers.
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace gapless::internal {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(JsonWriterTest, ObjectsAndArraysOnOneLine) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("steps", 5);
  json.Key("names");
  json.BeginArray();
  json.String("a");
  json.Null();
  json.EndArray();
  json.Key("none");
  json.BeginObject();
  json.EndObject();
  json.EndObject();
  EXPECT_EQ(out, R"({"steps": 5, "names": ["a", null], "none": {}})");
}

TEST(JsonWriterTest, IndentedForPeople) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  json.Key("list");
  json.BeginArray();
  json.Int(1);
  json.Int(2);
  json.EndArray();
  json.Field("yes", true);
  json.EndObject();
  EXPECT_EQ(out, "{\n  \"list\": [\n    1,\n    2\n  ],\n  \"yes\": true\n}");
}

TEST(JsonWriterTest, NumbersReadBackEqual) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  json.Int(std::numeric_limits<int64_t>::min());
  json.Int(std::numeric_limits<int64_t>::max());
  json.Real(0.1);
  json.Real(1e300);
  json.EndArray();
  EXPECT_EQ(out, "[-9223372036854775808, 9223372036854775807, 0.1, 1e+300]");
}

TEST(JsonWriterTest, ALargeWholeDoubleHasAnExponent) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  json.Real(123456789012345678901.0);
  json.Real(-5);
  json.Real(123456789012345.5);
  json.EndArray();
  EXPECT_EQ(out, "[1.2345678901234568e+20, -5, 123456789012345.5]");
}

TEST(JsonWriterTest, NanAndInfinityAreNull) {
  std::string out;
  JsonWriter json(out);
  json.BeginArray();
  json.Real(std::numeric_limits<double>::quiet_NaN());
  json.Real(std::numeric_limits<double>::infinity());
  json.EndArray();
  EXPECT_EQ(out, "[null, null]");
}

TEST(JsonWriterTest, AnAbsentOptionalLeavesItsKeyOut) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("here", std::optional<double>(1.5));
  json.Field("absent", std::optional<double>());
  json.FieldUnlessEmpty("empty", "");
  json.EndObject();
  EXPECT_EQ(out, R"({"here": 1.5})");
}

TEST(JsonWriterTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(Quoted("a\"b\\c\n\t\r"), R"("a\"b\\c\n\t\r")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1b[31m\x7f", 7)), R"("\u0000\u001b[31m\u007f")");
  EXPECT_EQ(Quoted("\u0080\u009b31m\u00a0\u00e9"), "\"\\u0080\\u009b31m\u00a0\u00e9\"");
}

TEST(JsonWriterTest, ValidUtf8StaysAndInvalidIsReplaced) {
  EXPECT_EQ(Quoted("µs 日本 😀"), "\"µs 日本 😀\"");
  EXPECT_EQ(Quoted("a\xff"
                   "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(Quoted("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"") << "an overlong form";
  EXPECT_EQ(Quoted("\xE2\x82"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"") << "cut off";
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "a surrogate";
}

}  // namespace
}  // namespace gapless::internal
