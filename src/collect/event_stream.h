// SPDX-License-Identifier: Apache-2.0
// A connection to a server that answers with a stream of events (text/event-stream), as servers of language models do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace gapless::internal {

// "http://host:8000/v1" taken apart. Plain HTTP only.
struct HttpAddress {
  std::string server;  // "http://host:8000"
  std::string path;    // "/v1"; "/" where the address has none
};
// A usage error with `example` as its hint when this is no such address.
Result<HttpAddress> ReadHttpAddress(const std::string& url, const std::string& example);

// An event as it arrived. Events that came together have the same time.
struct StreamEvent {
  int64_t at_ns = 0;  // of the steady clock
  std::string data;   // behind "data:", without the blank; lines of one event are joined by a newline
};

// The answer to one request, complete or not.
struct StreamAnswer {
  int status = 0;  // of HTTP; 0: no answer
  int64_t begun_ns = 0, ended_ns = 0;
  std::vector<StreamEvent> events{};
  std::string body{};     // of an answer that is no stream, its first 64 KiB
  std::string failure{};  // why the answer is not complete; empty: it is
};

// One request at a time; each thread has a stream of its own. The connection is kept between requests.
class EventStream {
 public:
  // An answer may take `patience_s` between two of its parts. `key`: goes with each request (Authorization: Bearer);
  // empty: none does.
  static Result<std::unique_ptr<EventStream>> Open(const HttpAddress& address, int patience_s,
                                                   const std::string& key = "");
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  // Sends JSON, and waits for the end of the answer. Events are taken apart after it has ended, so that the times of
  // later ones do not suffer.
  StreamAnswer Post(const std::string& path, const std::string& json);
  // The same without a body; `body` of the answer is up to 1 MiB.
  StreamAnswer Get(const std::string& path);
  // Cuts off the request that another thread waits for, and each later one. From any thread.
  void Stop();

 private:
  struct Impl;
  explicit EventStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapless::internal
