// SPDX-License-Identifier: Apache-2.0
// A column file that somebody made, with any values in it and a checksum that is right: it is refused, or every
// analysis and every rule gets through it. Damage without the right checksum is found before
// (trace/trace_file_test.cc).
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/findings.h"
#include "ingest/load.h"
#include "trace/trace_file.h"

namespace gapless::internal {
namespace {

enum class Plant { kOneValue, kEveryValue, kAllOnes };

// Read anew each time: the columns of a copy would be the same memory.
std::shared_ptr<Trace> Fresh() {
  auto loaded = LoadRun(std::vector<std::string>{"tests/data/two_ranks/rank0.json"}, {.use_cache = false});
  if (!loaded) return nullptr;
  return std::const_pointer_cast<Trace>(loaded->run.traces()[0].trace);  // nobody else has it
}

// Puts other values into the column of that number. False: there is none with rows from there on.
bool PlantInto(Trace& trace, size_t number, Plant how, std::mt19937_64& random) {
  size_t at = 0;
  bool planted = false;
  Trace::VisitTables(trace, [&](std::string_view, auto& table) {
    std::decay_t<decltype(table)>::Visit(table, [&](std::string_view, auto& column) {
      if (at++ != number || column.empty()) return;
      planted = true;
      const size_t only = random() % column.size();
      for (size_t row = 0; row < column.size(); ++row) {
        if (how == Plant::kOneValue && row != only) continue;
        const uint64_t bits = how == Plant::kAllOnes ? ~uint64_t{0} : random() >> random() % 64;
        std::memcpy(static_cast<void*>(&column.mutable_data()[row]), &bits, sizeof(column[row]));
      }
    });
  });
  return planted;
}

size_t ColumnCount() {
  size_t count = 0;
  const Trace trace;
  Trace::VisitTables(trace, [&](std::string_view, const auto& table) {
    std::decay_t<decltype(table)>::Visit(table, [&](std::string_view, const auto&) { ++count; });
  });
  return count;
}

TEST(PlantedCache, IsRefusedOrHarmless) {
  const std::string path = ::testing::TempDir() + "/gapless_planted.columns";
  std::mt19937_64 random(1);
  int refused = 0, used = 0;
  for (size_t column = 0; column < ColumnCount(); ++column)
    for (const Plant how : {Plant::kOneValue, Plant::kOneValue, Plant::kEveryValue, Plant::kAllOnes}) {
      const auto trace = Fresh();
      ASSERT_NE(trace, nullptr);
      if (!PlantInto(*trace, column, how, random)) continue;
      ASSERT_TRUE(WriteTraceFile(*trace, path));
      auto mapped = MapTraceFile(path);
      if (!mapped) {
        ++refused;
        continue;
      }
      ++used;
      const internal::Run run({std::make_shared<const Trace>(std::move(*mapped))});
      Tables tables(run);
      (void)Diagnose(tables);
      for (const Analysis* analysis : AllAnalyses()) tables.Get(analysis->name);
    }
  EXPECT_GT(refused, 50);
  EXPECT_GT(used, 50);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace gapless::internal
