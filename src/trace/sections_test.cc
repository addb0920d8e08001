// SPDX-License-Identifier: Apache-2.0
// Tests sections: columns come back as they were written, what is not there is absent, and bytes that somebody changed
// are refused or read as something, never past their end.
#include "trace/sections.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace gapless::internal {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min() + 1, kMost = std::numeric_limits<int64_t>::max();

SectionReader Reread(SectionWriter writer) {
  auto reader = SectionReader::Open(std::make_shared<const std::string>(std::move(writer).Finish()));
  EXPECT_TRUE(reader);
  return *std::move(reader);
}

TEST(Sections, ColumnsComeBackInEveryForm) {
  const std::vector<std::vector<int64_t>> columns = {
      {5, 5, 5, 5},          {1'000'000, 1'000'001, 1'000'007, 1'000'008}, {7, -3, 900, 12}, {kAbsent, 1, kAbsent, 2},
      {kLeast, kMost, 0, 1}, {kAbsent, kAbsent, kAbsent, kAbsent},         {-1, 0, 1, 2}};
  SectionWriter writer;
  writer.Begin("t", 4);
  for (size_t i = 0; i < columns.size(); ++i) writer.Ints("c" + std::to_string(i), columns[i]);
  const SectionReader reader = Reread(std::move(writer));
  const auto* section = reader.Find("t");
  ASSERT_NE(section, nullptr);
  EXPECT_EQ(section->rows(), 4U);
  for (size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(section->Ints("c" + std::to_string(i)), columns[i]) << i;
}

TEST(Sections, RandomColumnsComeBack) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t rows = random() % 70;
    std::vector<int64_t> ints(rows);
    std::vector<double> reals(rows);
    std::vector<std::string> owned(rows);
    const int shift = static_cast<int>(random() % 63);
    for (size_t row = 0; row < rows; ++row) {
      ints[row] = random() % 5 == 0 ? kAbsent : static_cast<int64_t>(random() >> shift);
      reals[row] = random() % 5 == 0 ? std::nan("") : static_cast<double>(random());
      owned[row] = std::string(random() % 3, 'x');
    }
    SectionWriter writer;
    writer.Begin("s", rows);
    writer.Ints("i", ints), writer.Reals("r", reals);
    writer.Texts("t", std::vector<std::string_view>(owned.begin(), owned.end()));
    const SectionReader reader = Reread(std::move(writer));
    const auto& section = *reader.Find("s");
    EXPECT_EQ(section.Ints("i"), ints);
    const std::vector<double> read = section.Reals("r");
    for (size_t row = 0; row < rows; ++row)
      EXPECT_TRUE(std::isnan(reals[row]) ? std::isnan(read[row]) : read[row] == reals[row]);
    EXPECT_EQ(section.Texts("t"), std::vector<std::string_view>(owned.begin(), owned.end()));
  }
}

TEST(Sections, WhatIsNotThereIsAbsent) {
  SectionWriter writer;
  writer.Begin("s", 2);
  writer.Text("t", "x");  // one value for two rows, as of a writer that went wrong
  const SectionReader reader = Reread(std::move(writer));
  EXPECT_EQ(reader.Find("other"), nullptr);
  const auto& section = *reader.Find("s");
  EXPECT_EQ(section.Ints("newer"), (std::vector<int64_t>{kAbsent, kAbsent}));
  EXPECT_EQ(section.Ints("t"), (std::vector<int64_t>{kAbsent, kAbsent})) << "a text is no integer";
  EXPECT_EQ(section.Text("newer"), "");
}

TEST(Sections, DamagedBytesAreNeverReadPastTheirEnd) {
  SectionWriter writer;
  writer.Begin("first", 3);
  writer.Ints("a", std::vector<int64_t>{1, kAbsent, 300});
  writer.Texts("b", std::vector<std::string_view>{"x", "", "yy"});
  writer.Begin("second", 2);
  writer.Reals("c", std::vector<double>{0.5, 1.5});
  const std::string good = std::move(writer).Finish();
  std::mt19937 random(3);
  size_t opened = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (size_t change = 0; change <= random() % 3; ++change)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(bytes.size() - (round % 2 == 0 ? random() % bytes.size() : 0));
    const auto reader = SectionReader::Open(std::make_shared<const std::string>(bytes));
    if (!reader) continue;
    ++opened;
    for (const auto& section : reader->all())
      for (const std::string_view column : {"a", "b", "c"})
        EXPECT_EQ(section.Ints(column).size() + section.Texts(column).size() + section.Reals(column).size(),
                  3 * section.rows());
  }
  EXPECT_GT(opened, 100U) << "some still are sections";
}

TEST(Sections, FewBytesClaimNoGreatNumberOfRows) {
  SectionWriter writer;
  writer.Begin("s", size_t{1} << 40);
  EXPECT_FALSE(SectionReader::Open(std::make_shared<const std::string>(std::move(writer).Finish())));
}

}  // namespace
}  // namespace gapless::internal
