// SPDX-License-Identifier: Apache-2.0
// An HttpListener answers small HTTP requests without a body, one for each connection, on threads of its own.
// Slow or many clients cannot keep it from answering others: request and answer together have 5 s, whatever the client
// sends meanwhile, and 50 ms once another connection waits for a thread. Connections above a fixed number are not
// accepted until earlier ones have ended.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace gapless::internal {

struct HttpRequest {
  std::string method, path;
  std::string host;  // the Host header; empty if there is none
};

struct HttpAnswer {
  int status = 200;
  std::string content_type, body;
  std::string allow;  // the Allow header; empty: no such header
};

struct HttpLimits {
  // Limits for request and answer together; the second counts once another connection waits for a thread.
  std::chrono::milliseconds deadline{5000}, deadline_if_others_wait{50};
};

class HttpListener {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;  // called from several threads at once

  // Listens on `host`, a name or an address without brackets; port 0 takes a free one.
  static Result<std::unique_ptr<HttpListener>> Start(const std::string& host, int port, Handler handler,
                                                     const HttpLimits& limits = {});
  // Cuts open connections off and waits for the threads; takes some tens of milliseconds at most.
  ~HttpListener();

  int port() const { return port_; }

 private:
  struct Impl;
  explicit HttpListener(const HttpLimits& limits);
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
};

}  // namespace gapless::internal
