// SPDX-License-Identifier: Apache-2.0
// Takes the time of each block as it comes from the socket, keeps the bytes, and looks for events when the answer is
// over: looking at once would delay the times of what comes next. An answer of more than 64 MiB is cut off.
#include "collect/event_stream.h"

#include <httplib.h>

#include <atomic>
#include <chrono>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kConnectSeconds = 5;
constexpr size_t kLongestStream = size_t{64} << 20, kLongestBody = size_t{64} << 10, kLongestDocument = size_t{1} << 20;

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The bytes of an answer, and where in them each block ends.
struct ReceivedBlocks {
  struct Block {
    size_t end;
    int64_t at_ns;
  };
  std::string bytes{};
  std::vector<Block> blocks{};

  bool Add(const char* data, size_t size) {
    bytes.append(data, size);
    blocks.push_back({bytes.size(), SteadyNs()});
    return bytes.size() <= kLongestStream;
  }
};

// An event ends with an empty line, and has come when the last byte of its data has. Comments and names are left out.
std::vector<StreamEvent> EventsIn(const ReceivedBlocks& received) {
  std::vector<StreamEvent> events;
  std::string data;
  size_t start = 0, block = 0;
  int64_t at_ns = 0;
  bool has_data = false;
  const std::string_view text = received.bytes;
  const auto finish = [&] {
    if (has_data) events.push_back({at_ns, std::move(data)});
    data.clear(), has_data = false;
  };
  while (start < text.size()) {
    const size_t newline = std::min(text.find('\n', start), text.size());
    std::string_view line = text.substr(start, newline - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) finish();
    if (line.starts_with("data:")) {
      while (block + 1 < received.blocks.size() && received.blocks[block].end < start + line.size()) ++block;
      at_ns = received.blocks[block].at_ns;
      line.remove_prefix(line.starts_with("data: ") ? 6 : 5);
      data += has_data ? StrCat("\n", line) : std::string(line);
      has_data = true;
    }
    start = newline + 1;
  }
  finish();
  return events;
}

std::string FailureOf(httplib::Error error, bool was_stopped) {
  if (was_stopped) return "stopped";
  switch (error) {
    case httplib::Error::Connection: return "no connection";
    case httplib::Error::ConnectionTimeout: return StrCat("no connection within ", kConnectSeconds, " s");
    case httplib::Error::Read: return "the answer broke off, or nothing came for too long";
    case httplib::Error::Write: return "the request could not be sent";
    case httplib::Error::Canceled: return "the answer is longer than 64 MiB";
    default: return httplib::to_string(error);
  }
}

}  // namespace

Result<HttpAddress> ReadHttpAddress(const std::string& url, const std::string& example) {
  constexpr std::string_view kScheme = "http://";
  const size_t slash = url.find('/', kScheme.size());
  HttpAddress address{.server = url.substr(0, slash), .path = slash == std::string::npos ? "/" : url.substr(slash)};
  if (!url.starts_with(kScheme) || address.server.size() == kScheme.size())
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(url), "' is no address of plain HTTP"), "", example);
  return address;
}

struct EventStream::Impl {
  explicit Impl(const std::string& server) : client(server) {}
  StreamAnswer Send(httplib::Request request, size_t longest_body);

  httplib::Client client;
  std::atomic<bool> stopped = false;
};

StreamAnswer EventStream::Impl::Send(httplib::Request request, size_t longest_body) {
  StreamAnswer answer;
  ReceivedBlocks received;
  bool is_stream = false;
  request.response_handler = [&](const httplib::Response& response) {
    answer.status = response.status;
    is_stream = response.get_header_value("Content-Type").find("event-stream") != std::string::npos;
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    return received.Add(data, size) && !stopped;
  };
  answer.begun_ns = SteadyNs();
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  const bool sent = !stopped && client.send(request, response, error);
  answer.ended_ns = SteadyNs();
  if (!sent) answer.failure = FailureOf(error, stopped);
  if (is_stream)
    answer.events = EventsIn(received);
  else
    answer.body = received.bytes.substr(0, longest_body);
  return answer;
}

EventStream::EventStream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventStream::~EventStream() = default;

Result<std::unique_ptr<EventStream>> EventStream::Open(const HttpAddress& address, int patience_s,
                                                       const std::string& key) {
  std::unique_ptr<Impl> impl;
  try {
    impl = std::make_unique<Impl>(address.server);
  } catch (const std::exception&) {  // the library takes the address apart with regular expressions
    impl = nullptr;
  }
  if (!impl || !impl->client.is_valid())
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(address.server), "' is no address"), "",
                "http://localhost:8000");
  impl->client.set_connection_timeout(kConnectSeconds);
  impl->client.set_read_timeout(patience_s);
  impl->client.set_keep_alive(true);
  impl->client.set_tcp_nodelay(true);
  if (!key.empty()) impl->client.set_bearer_token_auth(key);
  return std::unique_ptr<EventStream>(new EventStream(std::move(impl)));
}

StreamAnswer EventStream::Post(const std::string& path, const std::string& json) {
  httplib::Request request;
  request.method = "POST", request.path = path, request.body = json;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
  return impl_->Send(std::move(request), kLongestBody);
}

StreamAnswer EventStream::Get(const std::string& path) {
  httplib::Request request;
  request.method = "GET", request.path = path;
  return impl_->Send(std::move(request), kLongestDocument);
}

void EventStream::Stop() {
  impl_->stopped = true;
  impl_->client.stop();
}

}  // namespace gapless::internal
