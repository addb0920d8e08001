// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <exception>
#include <new>
#include <utility>

#include "base/strings.h"
#include "collect/start_thread.h"
#include "query/database.h"
#include "serve/reply.h"

namespace gapless::internal {
namespace {

// A browser asks on several connections at once, and a page on a busy machine is slow to write its request.
constexpr std::chrono::milliseconds kAskIfOthersWait{500}, kTakeAnswer{30'000}, kTakeAnswerIfOthersWait{2'000};
constexpr size_t kThreads = 64;
constexpr size_t kMaxBodyBytes = 65536;

HttpAnswer Refused(int status) {
  constexpr int kTooLarge = 413;
  if (status == kTooLarge) return ReplyError(status, "too_large", "a request may have 64 KiB", "");
  return ReplyError(status, "bad_request", "this is no request that is answered here", "");
}

// An answer that cannot be made is one, too: the server goes on.
HttpAnswer Guarded(Site& site, const HttpRequest& request) {
  constexpr int kOurFault = 500, kNoMemory = 503;
  try {
    return site.Answer(request);
  } catch (const std::bad_alloc&) {
    return ReplyError(kNoMemory, "no_memory", "out of memory", "close other programs, or serve fewer ranks: --rank");
  } catch (const std::exception& error) {
    return ReplyError(kOurFault, "failed", StrCat("internal fault: ", error.what()), "");
  }
}

Result<std::unique_ptr<HttpListener>> Listen(const ServeOptions& options, Site& site) {
  const HttpLimits limits{.deadline_if_others_wait = kAskIfOthersWait,
                          .answer_deadline = kTakeAnswer,
                          .answer_deadline_if_others_wait = kTakeAnswerIfOthersWait,
                          .threads = kThreads,
                          .body_bytes = kMaxBodyBytes,
                          .refusal = Refused};
  const auto start = [&](int port) {
    return HttpListener::Start(
        options.host, port, [&site](const HttpRequest& request) { return Guarded(site, request); }, limits);
  };
  auto listener = start(options.port.value_or(kUsualPort));
  if (!listener && !options.port) listener = start(0);
  if (listener) return listener;
  return Fail(ErrorCode::kEnvironment, "cannot listen there: the port is taken, or the address is not this machine's",
              StrCat(options.host, ":", options.port.value_or(0)), "--port 0 takes a free port");
}

}  // namespace

Server::Server(std::unique_ptr<Site> site) : site_(std::move(site)) {}

Server::~Server() {
  site_->Stop();
  listener_.reset();
  if (preparing_.joinable()) preparing_.join();
}

Result<std::unique_ptr<Server>> Server::Start(const ServeOptions& options, SiteParts parts) {
  std::string token = options.token;
  if (token.empty() && !IsLoopbackHost(options.host)) {
    GAPLESS_ASSIGN(token, NewToken());
  }
  LimitQueryMemory(kQueryMemoryBytes);
  std::unique_ptr<Server> server(
      new Server(std::make_unique<Site>(std::move(parts), Gatekeeper(options.host, token), options.query)));
  GAPLESS_ASSIGN(server->listener_, Listen(options, *server->site_));
  const bool v6 = options.host.find(':') != std::string::npos;
  server->address_ = StrCat("http://", v6 ? "[" : "", options.host, v6 ? "]" : "", ":", server->listener_->port(), "/",
                            token.empty() ? "" : "?token=", token);
  // Without a thread the first visitor waits.
  (void)StartThread(server->preparing_, [&at = *server] {
    try {
      at.site_->Prepare();
    } catch (const std::exception&) {  // whoever asks for it gets the same failure
    }
    at.prepared_ = true;
  });
  return server;
}

// Queries that have not come to their end by then are ended, and say so.
bool Server::Drain(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kToSaySo{300};
  bool done = listener_->Drain(limit);
  site_->Stop();
  if (!done) done = listener_->Drain(kToSaySo);
  return done && (prepared_ || !preparing_.joinable());
}

}  // namespace gapless::internal
