// SPDX-License-Identifier: Apache-2.0
// Only GET and HEAD of / and /metrics are answered, under names of this machine alone (AllowedHosts). Nothing can be
// changed through the server.
#include "collect/metrics_server.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"
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

std::string MachineName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
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

namespace {

bool IsAddress(const std::string& host) {
  in6_addr space;
  return inet_pton(AF_INET, host.c_str(), &space) == 1 || inet_pton(AF_INET6, host.c_str(), &space) == 1;
}

bool IsLocal(const std::string& host) { return host == "localhost" || host.ends_with(".localhost"); }

bool IsLoopback(const std::string& host) {
  return IsLocal(host) || host == "::1" || (IsAddress(host) && host.starts_with("127."));
}

// Returns the name in lower case, without the dot that may end it.
std::string Canonical(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name(host);
  std::transform(name.begin(), name.end(), name.begin(), Lower);
  return name;
}

// "[::1]:9477" is "::1", "node7:9477" is "node7".
std::string_view WithoutPort(std::string_view header) {
  if (header.starts_with('[')) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

std::string FirstLabel(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

AllowedHosts::AllowedHosts(std::string_view listen_host, std::string_view machine)
    : listen_host_(Canonical(listen_host)) {
  if (!IsLoopback(listen_host_)) machine_ = FirstLabel(Canonical(machine));
}

bool AllowedHosts::Allows(std::string_view host_header) const {
  if (host_header.empty()) return true;
  const std::string host = Canonical(WithoutPort(host_header));
  if (IsAddress(host) || IsLocal(host) || host == listen_host_) return true;
  return !machine_.empty() && FirstLabel(host) == machine_;
}

}  // namespace gapless::internal
