// SPDX-License-Identifier: Apache-2.0
// Tests the text, JSON and CSV outputs of rows: alignment, quoting, control characters, and a closed reader.
#include "query/sinks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gapless::internal {
namespace {

using Make = std::function<std::unique_ptr<PrintingSink>(BlockWriter)>;
using CellRows = std::vector<std::vector<SqlValue>>;

std::string Print(const Make& make, const std::vector<std::string>& columns, const CellRows& rows) {
  std::string out;
  const auto sink = make([&](std::string_view text) {
    out += text;
    return true;
  });
  sink->Columns(columns);
  for (const auto& row : rows) sink->Row(row);
  sink->Finish();
  return out;
}

Make Text(int width, bool utf8 = true) {
  return [=](BlockWriter write) { return MakeTextSink(std::move(write), {.width = width, .utf8 = utf8}); };
}

Make Csv(const CsvOptions& options = {}) {
  return [=](BlockWriter write) { return MakeCsvSink(std::move(write), options); };
}

const CellRows kRows = {{SqlValue::Text("aten::mm"), SqlValue::Int(12), SqlValue::Real(0.5)},
                        {SqlValue::Text("naïve \"x\", y"), SqlValue::Int(9007199254740993), SqlValue::Null()}};
const std::vector<std::string> kColumns = {"name", "calls", "share"};

TEST(SinksTest, TextIsAlignedWithNumbersToTheRight) {
  EXPECT_EQ(Print(Text(0), kColumns, kRows),
            "name                     calls  share\n"
            "aten::mm                    12    0.5\n"
            "naïve \"x\", y  9007199254740993      –\n");
}

TEST(SinksTest, TextIsCutToTheTerminalButNumbersAreNot) {
  EXPECT_EQ(Print(Text(34), kColumns, kRows),
            "name                  calls  share\n"
            "aten::mm                 12    0.5\n"
            "naïve \"x…  9007199254740993      –\n");
  EXPECT_EQ(Print(Text(34, false), {"name"},
                  {{SqlValue::Text(std::string_view("0123456789012345678901234567890123456789"))}}),
            "name\n012345678901234567890123456789012~\n");
}

TEST(SinksTest, TextNeverSendsControlCharactersToTheTerminal) {
  EXPECT_EQ(Print(Text(0), {"a"}, {{SqlValue::Text("\x1b[31mred\n")}}), "a\n[31mred \n");
}

TEST(SinksTest, CsvForATerminalHasNoControlCharacters) {
  const CellRows rows = {{SqlValue::Text("\x1b]0;x\x07red\u009b1m")}};
  EXPECT_EQ(Print(Csv({.printable = true}), {"a"}, rows), "a\r\n]0;xred1m\r\n");
  EXPECT_EQ(Print(Csv(), {"a"}, rows), "a\r\n\x1b]0;x\x07red\u009b1m\r\n") << "a file gets what was recorded";
}

TEST(SinksTest, CsvQuotesFormulasOnlyIfAsked) {
  const CellRows rows = {{SqlValue::Text("=1+1"), SqlValue::Text("@x")},
                         {SqlValue::Text("-x"), SqlValue::Text("+x")},
                         {SqlValue::Text("-1.5e3"), SqlValue::Text("+2")},
                         {SqlValue::Int(-1), SqlValue::Real(-0.5)},
                         {SqlValue::Text("a=b"), SqlValue::Text("\t=1")}};
  int64_t formulas = 0;
  EXPECT_EQ(Print(Csv({.formulas = &formulas}), {"a", "b"}, rows),
            "a,b\r\n=1+1,@x\r\n-x,+x\r\n-1.5e3,+2\r\n-1,-0.5\r\na=b,\t=1\r\n");
  EXPECT_EQ(formulas, 5);
  EXPECT_EQ(Print(Csv({.quote_formulas = true}), {"a", "b"}, rows),
            "a,b\r\n'=1+1,'@x\r\n'-x,'+x\r\n-1.5e3,+2\r\n-1,-0.5\r\na=b,'\t=1\r\n");
}

TEST(SinksTest, TextOfManyRowsIsNotHeldBack) {
  const CellRows rows(2500, {SqlValue::Int(1)});
  const std::string out = Print(Text(0), {"x"}, rows);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2501);
}

TEST(SinksTest, JsonKeepsIntegersWhole) {
  EXPECT_EQ(Print(MakeJsonSink, kColumns, kRows),
            "[\n{\"name\": \"aten::mm\", \"calls\": 12, \"share\": 0.5},\n"
            "{\"name\": \"naïve \\\"x\\\", y\", \"calls\": 9007199254740993, \"share\": null}\n]\n");
  EXPECT_EQ(Print(MakeJsonSink, kColumns, {}), "[]\n");
}

TEST(SinksTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(Print(Csv(), kColumns, kRows),
            "name,calls,share\r\naten::mm,12,0.5\r\n\"naïve \"\"x\"\", y\",9007199254740993,\r\n");
}

TEST(SinksTest, AClosedReaderEndsTheRows) {
  for (const auto& make : {Make(MakeJsonSink), Csv(), Text(0)}) {
    const auto sink = make([](std::string_view) { return false; });
    sink->Columns(std::vector<std::string>{"x"});
    const std::vector<SqlValue> row = {SqlValue::Text("some text")};
    bool open = true;
    for (int i = 0; open && i < 100000; ++i) open = sink->Row(row);
    EXPECT_FALSE(open);
  }
}

}  // namespace
}  // namespace gapless::internal
