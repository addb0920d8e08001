// SPDX-License-Identifier: Apache-2.0
// A MetricsServer serves a text at /metrics over HTTP, for Prometheus. Listens on the loopback address by default.
// Its destructor stops the server and waits for its threads.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

class HttpListener;

class MetricsServer {
 public:
  using Text = std::function<std::string()>;  // called from several threads of the server at once

  // `listen`: "127.0.0.1:9477", "[::1]:0", "9477"; port 0 takes a free one.
  static Result<std::unique_ptr<MetricsServer>> Start(const std::string& listen, Text text);
  ~MetricsServer();

  const std::string& address() const { return address_; }  // "http://127.0.0.1:9477/metrics"

 private:
  MetricsServer();
  std::unique_ptr<HttpListener> listener_;
  std::string address_;
};

// An AllowedHosts decides which Host headers a server of metrics answers. A web page may make a name of its own resolve
// to this machine (DNS rebinding), so that the browser lets it read what the server answers; the header then holds
// that name. Addresses are safe, because a page cannot own one.
class AllowedHosts {
 public:
  // `listen_host`: the name or address (without brackets) that the user gave; `machine`: what gethostname() returns.
  AllowedHosts(std::string_view listen_host, std::string_view machine);

  // Returns true for an empty header (browsers always send it), any IP address, localhost and names below it, and
  // `listen_host`. If `listen_host` is no loopback address, also for the machine's name, with any domain or none.
  bool Allows(std::string_view host_header) const;

 private:
  std::string listen_host_;
  std::string machine_;  // first label of the machine's name; empty on the loopback address
};

}  // namespace gapless::internal
