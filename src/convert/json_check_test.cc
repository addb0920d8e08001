// SPDX-License-Identifier: Apache-2.0
#include "convert/json_check.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(JsonCheckTest, OneWholeValueAndNothingElse) {
  JsonCheck check;
  for (const std::string_view good : {"[[2,3],[]]", "{\"a\": 1}", "\"text\"", "-1.5e3", "true", "null"})
    EXPECT_TRUE(check.IsValue(good)) << good;
  for (const std::string_view bad : {"", "[NaN]", "[1", "[1] [2]", "{'a':1}", "\"\xFF\"", "\"a\nb\"", "[1,]", "nul"})
    EXPECT_FALSE(check.IsValue(bad)) << bad;
}

}  // namespace
}  // namespace gapless::internal
