// SPDX-License-Identifier: Apache-2.0
// Arrow streams say what the cells of their tables say: every array is decoded here by the rules of the interface, and
// compared cell by cell. Ownership: children outlive their parents, streams outlive their tables and runs.
#include "gapless/arrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "api/table_data.h"
#include "gapless/c.h"
#include "gapless/run.h"

namespace gapless {
namespace {

// A stream that is released in the end.
struct Owned {
  ArrowArrayStream stream{};
  ~Owned() {
    if (stream.release != nullptr) stream.release(&stream);
  }
};

struct Schema {
  ArrowSchema schema{};
  ~Schema() {
    if (schema.release != nullptr) schema.release(&schema);
  }
};

bool IsPresent(const ArrowArray& array, int64_t row) {
  const auto* bits = static_cast<const uint8_t*>(array.buffers[0]);
  return bits == nullptr || (bits[row / 8] >> (row % 8) & 1) != 0;
}

template <class Offset>
std::string TextAt(const ArrowArray& texts, int64_t at) {
  const auto* offsets = static_cast<const Offset*>(texts.buffers[1]);
  const auto* bytes = static_cast<const char*>(texts.buffers[2]);
  return {bytes + offsets[at], bytes + offsets[at + 1]};
}

// A cell as a text, so that cells of both sides compare.
std::string Decoded(const ArrowArray& array, const ArrowSchema& field, int64_t row) {
  if (!IsPresent(array, row)) return "absent";
  const std::string_view format = field.format;
  if (format == "l") return std::to_string(static_cast<const int64_t*>(array.buffers[1])[row]);
  if (format == "g") return std::to_string(static_cast<const double*>(array.buffers[1])[row]);
  const int32_t at = static_cast<const int32_t*>(array.buffers[1])[row];
  EXPECT_LT(at, array.dictionary->length);
  return "'" + TextAt<int32_t>(*array.dictionary, at) + "'";
}

std::string Shown(const Cell& cell, ColumnType type) {
  if (!cell.has_value()) return "absent";
  if (type == ColumnType::kInt) return std::to_string(cell.Int().value());
  if (type == ColumnType::kReal) return std::to_string(cell.Real().value());
  return "'" + std::string(cell.Text().value()) + "'";
}

// Compares a table with its stream. Returns the number of rows that came.
size_t Compare(const Table& table) {
  Owned owned;
  EXPECT_TRUE(ExportArrow(table, &owned.stream));
  Schema schema;
  EXPECT_EQ(owned.stream.get_schema(&owned.stream, &schema.schema), 0);
  EXPECT_STREQ(schema.schema.format, "+s");
  EXPECT_EQ(schema.schema.n_children, static_cast<int64_t>(table.columns().size()));
  size_t rows = 0;
  while (true) {
    ArrowArray batch{};
    EXPECT_EQ(owned.stream.get_next(&owned.stream, &batch), 0);
    if (batch.release == nullptr) return rows;
    for (size_t column = 0; column < table.columns().size(); ++column) {
      const ArrowArray& array = *batch.children[column];
      EXPECT_EQ(array.length, batch.length);
      int64_t absent = 0;
      for (int64_t row = 0; row < array.length; ++row) {
        absent += IsPresent(array, row) ? 0 : 1;
        EXPECT_EQ(Decoded(array, *schema.schema.children[column], row),
                  Shown(table.At(rows + static_cast<size_t>(row), column), table.columns()[column].type))
            << table.name() << "." << table.columns()[column].name << " row " << row;
      }
      EXPECT_EQ(array.null_count, absent) << table.columns()[column].name;
    }
    rows += static_cast<size_t>(batch.length);
    batch.release(&batch);
  }
}

class Mixed : public internal::TableData {
 public:
  Mixed() {
    name = "mixed";
    columns = {{.name = "n", .unit = "ns", .help = "a number"},
               {.name = "share", .type = ColumnType::kReal},
               {.name = "text", .type = ColumnType::kText}};
    rows = 21;  // no multiple of 8
  }
  Cell At(size_t row, size_t column) const override {
    if (row % 5 == column) return {};
    if (column == 0) return Cell(static_cast<int64_t>(row) - 3);
    if (column == 1) return Cell(static_cast<double>(row) / 4);
    return Cell(row % 2 == 0 ? std::string_view("even") : std::string_view("\xff odd"));
  }
};

Table MakeMixed() { return internal::TableData::AsTable(std::make_shared<Mixed>()); }

TEST(ArrowTest, StreamsSayWhatTheCellsSay) {
  const char* const kPaths[] = {"tests/data/two_ranks", "samples/resnet50_v100.pt.trace.json.gz",
                                "tests/data/cpu_only.json"};
  size_t rows = 0;
  for (const char* path : kPaths) {
    const auto run = Run::Open(path, {.use_cache = false});
    ASSERT_TRUE(run) << run.error().ToString();
    for (const TableInfo& info : Run::Tables())
      if (const auto table = run->Table(info.name); table && table->rows() < 3000) rows += Compare(*table);
  }
  EXPECT_GT(rows, 1000U);
}

// Columns that are stored in each of the ways that are not as Arrow wants them.
class StoredColumns : public internal::TableData {
 public:
  StoredColumns() {
    name = "stored";
    columns = {{.name = "times"}, {.name = "narrow"}, {.name = "ids"}, {.name = "range"}, {.name = "same"}};
    rows = 3;
  }
  Cell At(size_t row, size_t column) const override {
    const int64_t cells[][5] = {{15, 1, 102, 7, 4}, {25, 0, 100, 8, 4}, {0, 3, 0, 9, 4}};
    const bool absent = (column == 0 && row == 2) || (column == 1 && row == 1) || (column == 2 && row == 2);
    return absent ? Cell() : Cell(cells[row][column]);
  }
  internal::StoredValues Stored(size_t, size_t column) const override {
    if (column == 0) return internal::StoredTimes{&times_, 5};
    if (column == 1) return &narrow_;
    if (column == 2) return internal::StoredIds<internal::SliceId>{&ids_, 100};
    if (column == 3) return internal::StoredRange{7};
    return internal::StoredSame{4};
  }

 private:
  internal::Column<int64_t> times_{std::vector<int64_t>{10, 20, internal::kAbsent}};
  internal::Column<int32_t> narrow_{std::vector<int32_t>{1, internal::kAbsent32, 3}};
  internal::Column<internal::SliceId> ids_{
      std::vector<internal::SliceId>{internal::SliceId(2), internal::SliceId(0), internal::SliceId()}};
};

TEST(ArrowTest, StoredValuesAreWhatTheirCellsShow) {
  EXPECT_EQ(Compare(internal::TableData::AsTable(std::make_shared<StoredColumns>())), 3U);
}

TEST(ArrowTest, AbsentCellsAreNullAndTextsAreUtf8) {
  Owned owned;
  ASSERT_TRUE(ExportArrow(MakeMixed(), &owned.stream));
  Schema schema;
  owned.stream.get_schema(&owned.stream, &schema.schema);
  ArrowArray batch{};
  owned.stream.get_next(&owned.stream, &batch);
  const ArrowArray& texts = *batch.children[2];
  EXPECT_EQ(texts.null_count, 4);
  EXPECT_EQ(texts.dictionary->length, 2) << "each text once";
  EXPECT_EQ(Decoded(texts, *schema.schema.children[2], 1), "'\xEF\xBF\xBD odd'");
  EXPECT_EQ(Decoded(*batch.children[0], *schema.schema.children[0], 0), "absent");
  EXPECT_EQ(Decoded(*batch.children[0], *schema.schema.children[0], 1), "-2");
  batch.release(&batch);
}

TEST(ArrowTest, TheUnitAndTheHelpStandBesideTheField) {
  Owned owned;
  ASSERT_TRUE(ExportArrow(MakeMixed(), &owned.stream));
  Schema schema;
  owned.stream.get_schema(&owned.stream, &schema.schema);
  const char* at = schema.schema.children[0]->metadata;
  const auto number = [&at] {
    int32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
  };
  const auto text = [&] {
    const auto size = static_cast<size_t>(number());
    std::string found(at, size);
    at += size;
    return found;
  };
  std::map<std::string, std::string> found;
  for (int32_t left = number(); left > 0; --left) {
    const std::string key = text();
    found[key] = text();
  }
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"unit", "ns"}, {"help", "a number"}}));
}

TEST(ArrowTest, ColumnsAreChosenByName) {
  const std::vector<std::string> wanted = {"text", "n"};
  Owned owned;
  ASSERT_TRUE(ExportArrow(MakeMixed(), &owned.stream, wanted));
  Schema schema;
  owned.stream.get_schema(&owned.stream, &schema.schema);
  ASSERT_EQ(schema.schema.n_children, 2);
  EXPECT_STREQ(schema.schema.children[0]->name, "text");
  EXPECT_STREQ(schema.schema.children[1]->name, "n");
  const std::vector<std::string> wrong = {"m"};
  Owned none;
  const auto refused = ExportArrow(MakeMixed(), &none.stream, wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_EQ(none.stream.release, nullptr) << "an error fills nothing";
}

TEST(ArrowTest, AColumnOutlivesItsParentAndItsTable) {
  ArrowArray child{};
  {
    Owned owned;
    ASSERT_TRUE(ExportArrow(MakeMixed(), &owned.stream));
    ArrowArray batch{};
    owned.stream.get_next(&owned.stream, &batch);
    child = *batch.children[1];  // moved out, as the interface allows
    batch.children[1]->release = nullptr;
    batch.release(&batch);
  }
  EXPECT_EQ(static_cast<const double*>(child.buffers[1])[4], 1.0);
  child.release(&child);
  EXPECT_EQ(child.release, nullptr);
}

TEST(ArrowTest, AnEmptyTableIsAStreamWithoutRows) {
  EXPECT_EQ(Compare(Table()), 0U);
  EXPECT_EQ(Compare(MakeMixed().Slice(30, 5)), 0U);
  EXPECT_EQ(Compare(MakeMixed().Slice(20, 5)), 1U);
}

TEST(CApiTest, ErrorsHaveTheStatusOfTheProgram) {
  gapless_run* run = gapless_run_new();
  gapless_error error{};
  gapless_table* table = nullptr;
  EXPECT_EQ(gapless_find(run, "gpu_op", &table, &error), GAPLESS_USAGE) << "nothing was opened yet";
  EXPECT_STREQ(error.hint, "call gapless_open() first");
  gapless_error_release(&error);
  const char* paths[] = {"/nowhere/at/all.json"};
  EXPECT_EQ(gapless_open(run, paths, 1, nullptr, &error), GAPLESS_INPUT);
  EXPECT_STREQ(error.place, "/nowhere/at/all.json");
  gapless_error_release(&error);
  EXPECT_EQ(gapless_open(run, paths, 1, nullptr, nullptr), GAPLESS_INPUT) << "nobody needs to take the error";
  gapless_run_free(run);
}

}  // namespace
}  // namespace gapless
