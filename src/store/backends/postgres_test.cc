// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/backends/postgres/libpq.h"

namespace gapless::internal {
namespace {

TEST(LibPqTest, AMissingLibraryNamesItsPackage) {
  const auto library = postgres::OpenLibPq("libpq-that-is-not-there.so.5");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(library.error().hint.find("apt install libpq5"), std::string::npos);
}

TEST(LibPqTest, AnotherLibraryIsRefused) {
  const auto library = postgres::OpenLibPq("libc.so.6");
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().message.find("lacks functions"), std::string::npos);
}

}  // namespace
}  // namespace gapless::internal
