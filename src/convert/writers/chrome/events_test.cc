// SPDX-License-Identifier: Apache-2.0
// Tests the text of events: exact times, one line per event, absent values, untrusted texts, and the count by kind.
#include "convert/writers/chrome/events.h"

#include <gtest/gtest.h>

#include <limits>

#include "convert/testing/in_memory.h"

namespace gapless::internal::chrome {
namespace {

std::string Us(int64_t ns) {
  std::string out;
  AppendUs(out, ns);
  return out;
}

TEST(ChromeEventsTest, TimesAreExactMicroseconds) {
  EXPECT_EQ(Us(0), "0.000");
  EXPECT_EQ(Us(1), "0.001");
  EXPECT_EQ(Us(1'712'195'495'519'695'123), "1712195495519695.123");
  EXPECT_EQ(Us(-1'234), "-1.234");
  EXPECT_EQ(Us(-7), "-0.007");
  EXPECT_EQ(Us(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

class EventsTest : public ::testing::Test {
 protected:
  std::string Written() {
    out.Flush();
    return text;
  }
  StringPool pool;
  std::string text;
  internal::testing::TextSink sink{text};
  Events out{sink};
};

TEST_F(EventsTest, AnEventIsOneLine) {
  const StringId name = pool.Intern("aten::mm"), shapes = pool.Intern("[[2,3],[3,4]]");
  TextCache texts(pool);
  out.SetTrace(1'000, texts);
  out.Begin(Kind::kSlice, 'X', "cpu_op").Name(name).At({7, 8}, 500).Dur(250).Arg("External id", int64_t{3});
  out.JsonArg("Input Dims", shapes).End();
  EXPECT_EQ(Written(),
            "\n{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":7,\"tid\":8,\"ts\":1.500,\"dur\":0.250,"
            "\"args\":{\"External id\":3,\"Input Dims\":[[2,3],[3,4]]}}");
}

TEST_F(EventsTest, WhatIsAbsentIsLeftOut) {
  TextCache texts(pool);
  out.SetTrace(0, texts);
  out.Begin(Kind::kCounter, 'C', "").Name("c").At({1, 0}, 0);
  out.Arg("a", kAbsent).Arg("b", kAbsent32).Arg("c", std::numeric_limits<double>::quiet_NaN());
  out.Arg("d", std::numeric_limits<float>::quiet_NaN()).Arg("e", "").Arg("f", StringId::kNone).End();
  EXPECT_EQ(Written(), "\n{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"tid\":0,\"ts\":0.000}");
}

TEST_F(EventsTest, TextsOfARecordingAreUntrusted) {
  const StringId name = pool.Intern(std::string_view("\"\\\0\x1b</script>\xFF", 14)), broken = pool.Intern("[NaN,");
  TextCache texts(pool);
  out.SetTrace(0, texts);
  for (int again = 0; again < 2; ++again) out.Begin(Kind::kSlice, 'X', "a").Name(name).JsonArg("dims", broken).End();
  const std::string event =
      "{\"ph\":\"X\",\"cat\":\"a\",\"name\":\"\\\"\\\\\\u0000\\u001b</"
      "script>\xEF\xBF\xBD\",\"args\":{\"dims\":\"[NaN,\"}}";
  EXPECT_EQ(Written(), "\n" + event + ",\n" + event);
}

TEST_F(EventsTest, NumbersOfAColumnReadBackAsTheyWere) {
  TextCache texts(pool);
  out.SetTrace(0, texts);
  out.Begin(Kind::kGpuOp, 'X', "kernel").Name("k").Arg("a", 0.1).Arg("b", 0.1F).Arg("c", int32_t{-1}).End();
  EXPECT_NE(Written().find("{\"a\":0.1,\"b\":0.1,\"c\":-1}"), std::string::npos);
}

TEST_F(EventsTest, BlocksPassOnAndEventsAreCountedByKind) {
  TextCache texts(pool);
  out.SetTrace(0, texts);
  for (int i = 0; i < 20'000; ++i) out.Begin(Kind::kFlow, 's', "ac2g").Name("ac2g").At({1, 1}, i).End();
  EXPECT_GT(text.size(), 1'000'000U) << "what is written must not wait for the end";
  out.Begin(Kind::kSlice, 'X', "cpu_op").Name("a").End();
  EXPECT_EQ(out.bytes(), static_cast<int64_t>(Written().size()));
  const std::vector<std::pair<std::string_view, int64_t>> counts = {{"slice", 1}, {"flow", 20'000}};
  EXPECT_EQ(out.counts(), counts);
}

}  // namespace
}  // namespace gapless::internal::chrome
