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

}  // namespace gapless::internal
