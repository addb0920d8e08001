// SPDX-License-Identifier: Apache-2.0
// Serves runs to a browser on this machine, or to whoever knows the token.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "serve/site.h"

namespace gapless::internal {

inline constexpr int kUsualPort = 8077;

struct ServeOptions {
  std::string host = "127.0.0.1";  // a name or an address without brackets
  std::optional<int> port{};       // none: kUsualPort, or a free one where that is taken; 0: a free one
  std::string token{};             // empty: one is made, but on the loopback device, where none is asked for
  QueryLimits query{};
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> Start(const ServeOptions& options, SiteParts parts);
  ~Server();

  // The address of the page, with the token if one is asked for.
  const std::string& address() const { return address_; }
  // Accepts nothing more and waits for the answers under way, at most for `limit`. True: nothing is at work any more.
  bool Drain(std::chrono::milliseconds limit);

 private:
  explicit Server(std::unique_ptr<Site> site);
  std::unique_ptr<Site> site_;
  std::unique_ptr<HttpListener> listener_;
  std::string address_;
  std::atomic<bool> prepared_ = false;
  std::thread preparing_;
};

}  // namespace gapless::internal
