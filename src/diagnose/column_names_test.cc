// SPDX-License-Identifier: Apache-2.0
// A cell is asked for by the name of its column, and a name that no table has gives an absent one, silently. So the
// names that stand in the sources are held against the columns that there are.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "analyses/analysis.h"
#include "base/pattern.h"

namespace gapless::internal {
namespace {

TEST(ColumnNames, OfCellsThatAreAskedForAreThoseOfAnAnalysis) {
  std::set<std::string, std::less<>> columns;
  for (const Analysis* analysis : AllAnalyses())
    for (const ColumnSpec& column : analysis->columns) columns.emplace(column.name);
  const auto asked =
      Pattern::Make(R"re(\b(?:Int|Real|Text|IsNull)\([a-z_.]+(?:\[[a-z_.]+\])?, "([a-z_0-9]+)"\))re", "the test");
  ASSERT_TRUE(asked) << asked.error().ToString();
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("src")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".cc") || path.ends_with("_test.cc")) continue;
    std::ifstream file(path, std::ios::binary);
    asked->ForEach(std::string(std::istreambuf_iterator<char>(file), {}), [&](std::string_view name) {
      ++found;
      EXPECT_TRUE(columns.contains(name)) << path << " asks for a column " << name << ", which no analysis has";
    });
  }
  EXPECT_GT(found, 400U) << "the expression no longer finds them";
}

}  // namespace
}  // namespace gapless::internal
