// SPDX-License-Identifier: Apache-2.0
// Tests who may ask the server, and the form of its answers.
#include "serve/gatekeeper.h"

#include <gtest/gtest.h>

#include <set>

#include "base/strings.h"
#include "serve/reply.h"

namespace gapless::internal {
namespace {

using Refusal = Gatekeeper::Refusal;

HttpRequest Asking(std::string host, std::map<std::string, std::string, std::less<>> headers = {}) {
  return {.method = "GET", .path = "/api/runs", .host = std::move(host), .headers = std::move(headers)};
}

TEST(Gatekeeper, OnTheLoopbackDeviceOnlyItsNamesAreAnswered) {
  const Gatekeeper gatekeeper("127.0.0.1", "");
  for (const char* host : {"localhost:8077", "LocalHost", "127.0.0.1:1", "[::1]:8077", "a.localhost:8077"})
    EXPECT_FALSE(gatekeeper.Refuse(Asking(host))) << host;
  for (const char* host :
       {"", "evil.example:8077", "10.0.0.7:8077", "localhost.evil.example", "127.0.0.1.evil.example"})
    EXPECT_EQ(gatekeeper.Refuse(Asking(host)), Refusal::kForeignHost) << host;
}

TEST(Gatekeeper, ANameThatItListensOnIsAnswered) {
  const Gatekeeper gatekeeper("node7.cluster", "0123456789abcdef");
  const auto with_token = [](std::string host) {
    return Asking(std::move(host), {{"authorization", "Bearer 0123456789abcdef"}});
  };
  EXPECT_FALSE(gatekeeper.Refuse(with_token("node7.cluster:8077")));
  EXPECT_EQ(gatekeeper.Refuse(with_token("evil.example")), Refusal::kForeignHost);
  EXPECT_EQ(gatekeeper.Refuse(Asking("node7.cluster:8077")), Refusal::kNoToken);
}

TEST(Gatekeeper, OnlyItsOwnPageMayAsk) {
  const Gatekeeper gatekeeper("127.0.0.1", "");
  EXPECT_FALSE(gatekeeper.Refuse(Asking("localhost:8077", {{"origin", "http://localhost:8077"}})));
  for (const char* origin : {"http://localhost:3000", "null", "http://evil.example", "https://localhost:8077"})
    EXPECT_EQ(gatekeeper.Refuse(Asking("localhost:8077", {{"origin", origin}})), Refusal::kForeignOrigin) << origin;
  EXPECT_EQ(gatekeeper.Refuse(Asking("localhost", {{"sec-fetch-site", "cross-site"}})), Refusal::kForeignOrigin);
  HttpRequest link = Asking("localhost", {{"sec-fetch-site", "cross-site"}});
  link.path = "/";
  EXPECT_FALSE(gatekeeper.Refuse(link)) << "a link to the page may stand anywhere";
}

TEST(Gatekeeper, TheTokenIsTakenFromThreePlacesAndWholeOnly) {
  const std::string token = "0123456789abcdef";
  const Gatekeeper gatekeeper("0.0.0.0", token);
  const auto refuses = [&](const HttpRequest& request) { return gatekeeper.Refuse(request) == Refusal::kNoToken; };
  EXPECT_FALSE(refuses(Asking("10.0.0.7", {{"cookie", StrCat("a=b; gapless_token=", token, "; c=d")}})));
  EXPECT_FALSE(refuses(Asking("10.0.0.7", {{"authorization", StrCat("Bearer ", token)}})));
  HttpRequest first = Asking("10.0.0.7");
  first.parameters = {{"token", token}};
  EXPECT_FALSE(refuses(first));
  EXPECT_TRUE(gatekeeper.BringsToken(first));
  for (const char* wrong : {"", "0123456789abcde", "0123456789abcdef0", "1123456789abcdef"}) {
    EXPECT_TRUE(refuses(Asking("10.0.0.7", {{"cookie", StrCat("gapless_token=", wrong)}}))) << wrong;
    EXPECT_TRUE(refuses(Asking("10.0.0.7", {{"authorization", StrCat("Bearer ", wrong)}}))) << wrong;
  }
}

TEST(NewToken, IsLongAndAnotherEachTime) {
  std::set<std::string> tokens;
  for (int i = 0; i < 20; ++i) tokens.insert(NewToken().value());
  EXPECT_EQ(tokens.size(), 20u);
  EXPECT_EQ(tokens.begin()->size(), 64u);
}

std::string HeaderOf(const HttpAnswer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name) return value;
  return {};
}

TEST(Reply, IsSentAgainOnlyIfItChanged) {
  const HttpAnswer first = Reply(Asking("localhost"), "{\"a\": 1}");
  const std::string tag = HeaderOf(first, "ETag");
  EXPECT_EQ(Reply(Asking("localhost", {{"if-none-match", tag}}), "{\"a\": 1}").status, 304);
  EXPECT_EQ(Reply(Asking("localhost", {{"if-none-match", StrCat("\"x\", W/", tag)}}), "{\"a\": 1}").status, 304);
  EXPECT_EQ(Reply(Asking("localhost", {{"if-none-match", tag}}), "{\"a\": 2}").status, 200);
}

TEST(Reply, IsCompressedForWhoTakesThat) {
  const std::string text(5000, ' ');
  const auto coding = [&](const char* takes) {
    return HeaderOf(Reply(Asking("localhost", {{"accept-encoding", takes}}), text), "Content-Encoding");
  };
  EXPECT_EQ(coding("gzip, deflate, br"), "gzip");
  EXPECT_EQ(coding("br;q=1.0, gzip;q=0.8"), "gzip");
  EXPECT_EQ(coding("gzip;q=0"), "");
  EXPECT_EQ(coding("identity"), "");
  EXPECT_EQ(HeaderOf(Reply(Asking("localhost", {{"accept-encoding", "gzip"}}), "{}"), "Content-Encoding"), "")
      << "short";
}

}  // namespace
}  // namespace gapless::internal
