// SPDX-License-Identifier: Apache-2.0
// Implements the HTTP server of /metrics on a thread of its own, with two worker threads. Slow readers are cut off
// after 5 s, so they cannot occupy both. Only GET of / and /metrics is answered; nothing can be changed through
// it.
#include "collect/metrics_server.h"

#include <httplib.h>

#include <charconv>
#include <csignal>
#include <thread>

#include "base/strings.h"
#include "collect/start_thread.h"

namespace gapless::internal {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";
constexpr int kMaxWaitingSeconds = 5;

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

}  // namespace

struct MetricsServer::Impl {
  httplib::Server server;
  std::thread thread;
};

MetricsServer::MetricsServer() : impl_(std::make_unique<Impl>()) {}

MetricsServer::~MetricsServer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::Start(const std::string& listen, Text text) {
  const auto endpoint = ParseEndpoint(listen);
  if (!endpoint) return Unexpected{endpoint.error()};
  std::unique_ptr<MetricsServer> server(new MetricsServer);
  httplib::Server& http = server->impl_->server;
  http.new_task_queue = [] { return new httplib::ThreadPool(2); };
  http.set_read_timeout(kMaxWaitingSeconds);
  http.set_write_timeout(kMaxWaitingSeconds);
  http.set_keep_alive_timeout(1);
  http.Get("/metrics", [text = std::move(text)](const httplib::Request&, httplib::Response& response) {
    response.set_content(text(), kContentType);
  });
  http.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("gapless monitor: see /metrics\n", "text/plain; charset=utf-8");
  });
  int port = endpoint->port;
  if (port == 0)
    port = http.bind_to_any_port(endpoint->host);
  else if (!http.bind_to_port(endpoint->host, port))
    port = -1;
  if (port <= 0)
    return Fail(ErrorCode::kEnvironment, "cannot listen there: the address is taken, or not this machine's", listen,
                "--listen 127.0.0.1:0 takes a free port");
  const bool v6 = endpoint->host.find(':') != std::string::npos;
  server->address_ = StrCat("http://", v6 ? "[" : "", endpoint->host, v6 ? "]" : "", ":", port, "/metrics");
  // Its threads leave signals to whoever waits for them.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  const auto started = StartThread(server->impl_->thread, [&http] {
    try {
      http.listen_after_bind();
    } catch (const std::exception&) {  // it starts threads of its own: without them there are no metrics
      http.stop();
    }
  });
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  if (!started) return Unexpected{started.error()};
  return server;
}

}  // namespace gapless::internal
