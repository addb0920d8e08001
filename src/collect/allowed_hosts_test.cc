// SPDX-License-Identifier: Apache-2.0
#include "collect/allowed_hosts.h"

#include <gtest/gtest.h>

namespace gapless::internal {
namespace {

TEST(AllowedHosts, TakesAddressesAndLocalNamesAnywhere) {
  for (const char* listen : {"127.0.0.1", "::1", "0.0.0.0"}) {
    const AllowedHosts hosts(listen, "node7");
    for (const char* header : {"", "127.0.0.1:9477", "10.1.2.3", "[::1]:9477", "[fd00::7]", "localhost:9477",
                               "LOCALHOST", "localhost.:9477", "gapless.localhost"})
      EXPECT_TRUE(hosts.Allows(header)) << listen << ' ' << header;
    for (const char* header : {"evil.example:9477", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost",
                               "[::1", ":9477", ".", "127.0.0.1@evil.example"})
      EXPECT_EQ(hosts.Allows(header), std::string_view(header) == "[::1") << listen << ' ' << header;
  }
}

TEST(AllowedHosts, TakesTheMachinesNameWhereOthersCanReachIt) {
  const AllowedHosts everywhere("0.0.0.0", "Node7.cluster");
  for (const char* header : {"node7:9477", "NODE7.cluster", "node7.other.example:80"})
    EXPECT_TRUE(everywhere.Allows(header)) << header;
  EXPECT_FALSE(everywhere.Allows("node70:9477"));
  for (const char* loopback : {"127.0.0.1", "127.9.9.9", "localhost", "::1"})
    EXPECT_FALSE(AllowedHosts(loopback, "node7").Allows("node7:9477")) << loopback;
}

TEST(AllowedHosts, TakesTheNameThatTheUserListensOn) {
  const AllowedHosts hosts("Metrics.example", "node7");
  EXPECT_TRUE(hosts.Allows("metrics.example:9477"));
  EXPECT_FALSE(hosts.Allows("other.example:9477"));
}

TEST(AllowedHosts, NoNameOfTheMachineAllowsNoName) {
  EXPECT_FALSE(AllowedHosts("0.0.0.0", "").Allows(".evil.example"));
}

}  // namespace
}  // namespace gapless::internal
