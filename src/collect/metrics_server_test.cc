// SPDX-License-Identifier: Apache-2.0
// The server of metrics among clients that mean no good: slow, many, on another name, with other methods.
#include "collect/metrics_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "collect/allowed_hosts.h"
#include "collect/http_listener.h"

namespace gapless::internal {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

int Connect(int port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return client;
}

bool Send(int client, std::string_view text) {
  return send(client, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Returns all that the server sends until it closes, or within `limit`.
std::string ReadAll(int client, milliseconds limit) {
  const auto end = Clock::now() + limit;
  std::string all;
  while (Clock::now() < end) {
    pollfd wanted{.fd = client, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, 20) <= 0) continue;
    char part[4096];
    const ssize_t count = recv(client, part, sizeof part, 0);
    if (count <= 0) break;
    all.append(part, static_cast<size_t>(count));
  }
  return all;
}

std::string Ask(int port, const std::string& request, milliseconds limit = seconds(2)) {
  const int client = Connect(port);
  EXPECT_TRUE(Send(client, request));
  std::string answer = ReadAll(client, limit);
  close(client);
  return answer;
}

int PortOf(const MetricsServer& server) {
  const std::string& address = server.address();  // http://127.0.0.1:PORT/metrics
  return std::stoi(address.substr(address.rfind(':') + 1));
}

constexpr const char* kScrape = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

// Clients that begin a request and send one more byte every few milliseconds, for as long as the server lets them.
class Drips {
 public:
  Drips(int port, int count) {
    for (int number = 0; number < count; ++number) {
      sockets_.push_back(Connect(port));
      Send(sockets_.back(), "GET /m");
    }
    thread_ = std::thread([this] {
      while (!ended_) {
        for (const int client : sockets_) Send(client, "a");
        std::this_thread::sleep_for(milliseconds(5));
      }
    });
  }
  ~Drips() {
    ended_ = true;
    thread_.join();
    for (const int client : sockets_) close(client);
  }
  // Returns true once the server has closed every connection.
  bool AllClosedWithin(milliseconds limit) const {
    const auto end = Clock::now() + limit;
    for (const int client : sockets_) {
      pollfd wanted{.fd = client, .events = POLLIN | POLLRDHUP, .revents = 0};
      const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
      if (poll(&wanted, 1, static_cast<int>(std::max<int64_t>(0, left.count()))) != 1) return false;
    }
    return true;
  }

 private:
  std::vector<int> sockets_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

#ifdef GAPLESS_SANITIZED
constexpr auto kSoon = seconds(5);
#else
constexpr auto kSoon = seconds(1);
#endif

class AmongDrips : public ::testing::TestWithParam<int> {};

TEST_P(AmongDrips, AScrapeIsAnsweredWithinASecond) {
  const auto server = MetricsServer::Start("127.0.0.1:0", [] { return std::string("gapless_up 1\n"); });
  ASSERT_TRUE(server) << server.error().ToString();
  const Drips drips(PortOf(**server), GetParam());
  for (int scrape = 0; scrape < 3; ++scrape) {
    const auto begin = Clock::now();
    EXPECT_NE(Ask(PortOf(**server), kScrape, seconds(10)).find("\r\n\r\ngapless_up 1\n"), std::string::npos);
    EXPECT_LT(Clock::now() - begin, kSoon);
  }
}

TEST_P(AmongDrips, TheServerEndsAtOnce) {
  auto server = MetricsServer::Start("127.0.0.1:0", [] { return std::string(); });
  ASSERT_TRUE(server) << server.error().ToString();
  const Drips drips(PortOf(**server), GetParam());
  const auto begin = Clock::now();
  server->reset();
  EXPECT_LT(Clock::now() - begin, kSoon);
}

TEST_P(AmongDrips, EveryDripIsCutOffAtTheDeadline) {
  const auto listener = HttpListener::Start("127.0.0.1", 0, [](const HttpRequest&) { return HttpAnswer{}; },
                                            {.deadline = milliseconds(300)});
  ASSERT_TRUE(listener) << listener.error().ToString();
  const Drips drips((*listener)->port(), GetParam());
  EXPECT_TRUE(drips.AllClosedWithin(kSoon + milliseconds(300)));
}

INSTANTIATE_TEST_SUITE_P(MetricsServer, AmongDrips, ::testing::Values(2, 8, 64));

class MetricsServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = MetricsServer::Start("127.0.0.1:0", [] { return std::string("gapless_up 1\n"); });
    ASSERT_TRUE(server) << server.error().ToString();
    server_ = std::move(*server);
  }
  std::string Get(const std::string& request) { return Ask(PortOf(*server_), request); }
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, MetricsAreAllThatCanBeRead) {
  EXPECT_TRUE(Get(kScrape).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(Get("GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(Get("GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(Get("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
  const std::string head = Get("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(MetricsServerTest, OtherMethodsAreRefusedWithTheOnesThatWork) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const std::string answer =
        Get(std::string(method) + " /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na=1");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405")) << answer;
    EXPECT_NE(answer.find("Allow: GET, HEAD\r\n"), std::string::npos) << answer;
  }
}

TEST_F(MetricsServerTest, ANameOfSomebodyElseReadsNothing) {
  const std::string answer = Get("GET /metrics HTTP/1.1\r\nHost: rebound.example:9477\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 421")) << answer;
  EXPECT_EQ(answer.find("gapless_up"), std::string::npos) << answer;
}

TEST_F(MetricsServerTest, ARequestWithoutAnEndIsCutOff) {
  const int client = Connect(PortOf(*server_));
  const std::string part(8192, 'a');
  int parts = 0;
  while (parts < 1024 && Send(client, part)) ++parts;
  EXPECT_LT(parts, 1024);  // 8 MiB
  close(client);
}

}  // namespace

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
