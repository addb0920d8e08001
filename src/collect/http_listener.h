// SPDX-License-Identifier: Apache-2.0
// An HttpListener answers small HTTP requests, one for each connection, on threads of its own. Slow or many clients
// cannot keep it from answering others: a client has 5 s to send its request, whatever it sends meanwhile, and as long
// to take the answer; 50 ms once another connection waits for a thread. The time that the answer itself needs counts
// for neither. Connections above a fixed number are not accepted until earlier ones have ended.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

struct HttpRequest {
  std::string method, path;  // the path is decoded
  std::string host;          // the Host header; empty if there is none
  // Keys are in lower case; of several headers of one name the first counts.
  std::map<std::string, std::string, std::less<>> headers{};
  std::map<std::string, std::string, std::less<>> parameters{};  // parameters of the URL's query, decoded
  std::string body{};                                            // body of a POST; empty unless the limits allow bodies

  // "" if there is none.
  std::string_view Header(std::string_view name) const { return Value(headers, name); }
  std::string_view Parameter(std::string_view name) const { return Value(parameters, name); }

 private:
  template <class Values>
  static std::string_view Value(const Values& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string_view() : std::string_view(found->second);
  }
};

struct HttpAnswer {
  int status = 200;
  std::string content_type, body;
  std::string allow;  // the Allow header; empty: no such header
  std::vector<std::pair<std::string, std::string>> headers{};
};

struct HttpLimits {
  // Limits for sending the request, and for taking the answer; the second counts once another connection waits for a
  // thread.
  std::chrono::milliseconds deadline{5000}, deadline_if_others_wait{50};
  std::chrono::milliseconds answer_deadline{5000}, answer_deadline_if_others_wait{50};
  size_t threads = 16;    // connections that are served at once
  size_t body_bytes = 0;  // longest body of a POST; a longer one is refused unread. 0: bodies are not read
  // Makes the answer of what is refused before the handler sees it (400, 413, 414); null: an empty one.
  HttpAnswer (*refusal)(int status) = nullptr;
};

class HttpListener {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;  // called from several threads at once

  // Listens on `host`, a name or an address without brackets; port 0 takes a free one.
  static Result<std::unique_ptr<HttpListener>> Start(const std::string& host, int port, Handler handler,
                                                     const HttpLimits& limits = {});
  // Cuts open connections off and waits for the threads; takes some tens of milliseconds at most, beside what the
  // handler takes.
  ~HttpListener();
  // Accepts no more connections, and waits until those that are open have their answers, or for `limit`. True: no
  // handler is at work any more.
  bool Drain(std::chrono::milliseconds limit);

  int port() const { return port_; }

 private:
  struct Impl;
  explicit HttpListener(const HttpLimits& limits);
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
};

}  // namespace gapless::internal
