// SPDX-License-Identifier: Apache-2.0
// Only GET and HEAD of / and /metrics are answered, under names of this machine alone (AllowedHosts). Nothing can be
// changed through the server.
#include "collect/metrics_server.h"

#include <charconv>

#include "base/strings.h"
#include "collect/allowed_hosts.h"
#include "collect/http_listener.h"

namespace gapless::internal {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kTextType = "text/plain; charset=utf-8";
constexpr int kForeignHostStatus = 421, kNotFoundStatus = 404, kMethodStatus = 405;

struct Endpoint {
  std::string host = kLoopback;
  int port = 0;
};

// Parses "host:port", "[v6]:port" or "port". A port alone means the loopback address.
Result<Endpoint> ParseEndpoint(const std::string& listen) {
  Endpoint endpoint;
  const size_t colon = listen.rfind(':');
  std::string_view port = listen;
  if (colon != std::string::npos) {
    endpoint.host = listen.substr(0, colon);
    port = std::string_view(listen).substr(colon + 1);
    if (endpoint.host.size() > 2 && endpoint.host.front() == '[' && endpoint.host.back() == ']')
      endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  constexpr int kMaxPort = 65535;
  if (error != std::errc() || end != port.data() + port.size() || endpoint.port < 0 || endpoint.port > kMaxPort ||
      endpoint.host.empty())
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(listen), "' is no address to listen on"), "",
                "--listen 127.0.0.1:9477");
  return endpoint;
}

HttpAnswer Answer(const HttpRequest& request, const AllowedHosts& hosts, const MetricsServer::Text& text) {
  if (!hosts.Allows(request.host))
    return {.status = kForeignHostStatus,
            .content_type = kTextType,
            .body =
                "gapless monitor: not a name of this server. Ask for its address, or listen on the name: --listen "
                "NAME:PORT\n",
            .allow = ""};
  if (request.method != "GET" && request.method != "HEAD")
    return {.status = kMethodStatus,
            .content_type = kTextType,
            .body = "gapless monitor: metrics can only be read\n",
            .allow = "GET, HEAD"};
  if (request.path == "/metrics") return {.content_type = kMetricsType, .body = text(), .allow = ""};
  return {.status = request.path == "/" ? 200 : kNotFoundStatus,
          .content_type = kTextType,
          .body = "gapless monitor: see /metrics\n",
          .allow = ""};
}

}  // namespace

MetricsServer::MetricsServer() = default;
MetricsServer::~MetricsServer() = default;

Result<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& listen, Text text) {
  GAPLESS_ASSIGN(const auto endpoint, ParseEndpoint(listen));
  GAPLESS_ASSIGN(auto listener,
                 HttpListener::Start(endpoint.host, endpoint.port,
                                     [hosts = AllowedHosts(endpoint.host, MachineName()), text = std::move(text)](
                                         const HttpRequest& request) { return Answer(request, hosts, text); }));
  std::unique_ptr<MetricsServer> server(new MetricsServer);
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  server->address_ = StrCat("http://", v6 ? "[" : "", endpoint.host, v6 ? "]" : "", ":", listener->port(), "/metrics");
  server->listener_ = std::move(listener);
  return server;
}

}  // namespace gapless::internal
