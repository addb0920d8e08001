// SPDX-License-Identifier: Apache-2.0
// cpp-httplib limits the time between two bytes, not that of a request: a client that drips one byte now and then
// would keep a thread for as long as it likes, and a handful of such clients all threads. So the library parses and
// writes, but reads through a stream that has a deadline for the whole exchange, and its queue of connections is
// bounded.
//
// A deadline alone is not enough. With 5 s each, more drips than threads still keep a scrape waiting for seconds. So a
// connection that has to wait for its client gives its thread up after 50 ms once other connections wait for one. A
// client on the same network has sent its request long before that. Threads look every 20 ms whether others wait.
// Whoever gives out megabytes gives its clients more time to take them.
#include "collect/http_listener.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "collect/start_thread.h"

namespace gapless::internal {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMaxWaiting = 64;  // connections that wait for a thread
constexpr milliseconds kTick{20};
constexpr size_t kMaxRequestBytes = 65536;  // the library itself limits neither a line nor the number of headers
constexpr int kNotModified = 304;           // a status without a content

// Holds what the threads share: how many connections wait for a thread, and whether the listener ends.
struct Load {
  HttpLimits limits;
  std::atomic<size_t> waiting = 0;
  std::atomic<bool> ending = false;
  std::atomic<int> handling = 0;  // handlers at work
};

// A Workers serves connections in the order of their arrival.
class Workers : public httplib::TaskQueue {
 public:
  explicit Workers(Load& load) : load_(load) {
    for (size_t number = 0; number < load.limits.threads; ++number) {
      std::thread thread;
      if (!StartThread(thread, [this] { Serve(); })) break;  // fewer threads do, but for none
      threads_.push_back(std::move(thread));
    }
    if (threads_.empty()) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  // Waits while the queue is full: meanwhile no further connection is accepted.
  void enqueue(std::function<void()> connection) override {
    std::unique_lock lock(mutex_);
    while (waiting_.size() >= kMaxWaiting && !load_.ending) room_.wait_for(lock, kTick);
    waiting_.push_back(std::move(connection));
    load_.waiting = waiting_.size();
    work_.notify_one();
  }
  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  // Connections that still wait at the end are run, too: each closes its socket.
  void Serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      load_.waiting = waiting_.size();
      room_.notify_one();
      lock.unlock();
      connection();
      lock.lock();
    }
  }

  Load& load_;
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::function<void()>> waiting_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

// The two directions of one connection. Every wait ends at the deadline.
class Exchange : public httplib::Stream {
 public:
  Exchange(int socket, const Load& load) : socket_(socket), load_(load) {}

  bool is_readable() const override { return begin_ < end_ || Wait(POLLIN); }
  bool is_writable() const override { return Wait(POLLOUT); }
  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_ && !Fill()) return -1;
    const size_t taken = std::min(size, end_ - begin_);
    std::copy_n(buffer_.data() + begin_, taken, to);
    begin_ += taken;
    return static_cast<ssize_t>(taken);
  }
  ssize_t write(const char* from, size_t size) override {
    if (!is_answering_) is_answering_ = true, start_ = Clock::now();
    for (size_t sent = 0; sent < size;) {
      if (!Wait(POLLOUT)) return -1;
      const ssize_t count = send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN && errno != EINTR) return -1;
      sent += count > 0 ? static_cast<size_t>(count) : 0;
    }
    return static_cast<ssize_t>(size);
  }
  // A socket that is closed with unread bytes resets the connection, and the client may never see the answer: so what
  // the client still sends is read, until it closes.
  void Finish() {
    ::shutdown(socket_, SHUT_WR);
    is_answering_ = false;
    do begin_ = end_;
    while (Fill());
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool Wait(short event) const {
    pollfd wanted{.fd = socket_, .events = event, .revents = 0};
    while (!load_.ending && Clock::now() - start_ < Limit()) {
      const int ready = poll(&wanted, 1, static_cast<int>(kTick.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }
  milliseconds Limit() const {
    const HttpLimits& limits = load_.limits;
    if (is_answering_) return load_.waiting > 0 ? limits.answer_deadline_if_others_wait : limits.answer_deadline;
    return load_.waiting > 0 ? limits.deadline_if_others_wait : limits.deadline;
  }
  bool Fill() {
    if (received_ >= kMaxRequestBytes + load_.limits.body_bytes || !Wait(POLLIN)) return false;
    const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count <= 0) return false;
    begin_ = 0, end_ = static_cast<size_t>(count);
    received_ += end_;
    return true;
  }

  int socket_;
  const Load& load_;
  Clock::time_point start_ = Clock::now();
  bool is_answering_ = false;  // since start_
  std::array<char, 4096> buffer_;
  size_t begin_ = 0, end_ = 0;  // range of the bytes of buffer_ that nobody has taken
  size_t received_ = 0;
};

class Server : public httplib::Server {
 public:
  explicit Server(Load& load) : load_(load) {}

  // The library lets five connections wait for accept(); one more is tried again by its client a second later.
  void AllowMoreToWait() { (void)::listen(svr_sock_, kMaxWaiting); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    Exchange exchange(socket, load_);
    bool closed = false;
    const bool answered = process_request(exchange, true, closed, nullptr);
    exchange.Finish();
    close(socket);
    return answered;
  }
  Load& load_;
};

HttpRequest RequestOf(const httplib::Request& from) {
  HttpRequest request{.method = from.method, .path = from.path, .host = from.get_header_value("Host")};
  for (const auto& [name, value] : from.headers) {
    std::string key(name);
    std::ranges::transform(key, key.begin(), Lower);
    request.headers.emplace(std::move(key), value);
  }
  for (const auto& [name, value] : from.params) request.parameters.emplace(name, value);
  request.body = from.body;
  return request;
}

void Fill(httplib::Response& response, const HttpAnswer& answer) {
  response.status = answer.status;
  if (!answer.allow.empty()) response.set_header("Allow", answer.allow);
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (answer.status != kNotModified) response.set_content(answer.body, answer.content_type);
}

// Counts the handlers at work, also where one throws.
class AtWork {
 public:
  explicit AtWork(Load& load) : load_(load) { ++load_.handling; }
  ~AtWork() { --load_.handling; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  Load& load_;
};

// Requests are answered before the library would look for a body, unless there may be one: then it reads that first.
void Route(Server& server, Load& load, HttpListener::Handler handler) {
  const auto answer = [&load, handler = std::move(handler)](const auto& request, auto& response) {
    const AtWork at_work(load);
    Fill(response, handler(RequestOf(request)));
  };
  const bool reads_bodies = load.limits.body_bytes > 0;
  server.set_pre_routing_handler([answer, reads_bodies](const auto& request, auto& response) {
    if (reads_bodies && request.method == "POST") return httplib::Server::HandlerResponse::Unhandled;
    answer(request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  if (reads_bodies) {
    server.set_payload_max_length(load.limits.body_bytes);
    server.Post(".*", answer);
  }
  if (load.limits.refusal == nullptr) return;
  server.set_error_handler([refusal = load.limits.refusal](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty()) Fill(response, refusal(response.status));
  });
}

}  // namespace

struct HttpListener::Impl {
  explicit Impl(const HttpLimits& limits) { load.limits = limits; }
  Load load;
  Server server{load};
  std::atomic<bool> ended = false;  // the thread of the server has nothing more to do
  bool stopped = false;
  std::thread thread;

  // The library forgets a stop() that comes before its thread has begun, and bears one only.
  void Stop() {
    while (!server.is_running() && !ended) std::this_thread::sleep_for(milliseconds(1));
    if (!stopped) server.stop();
    stopped = true;
  }
};

HttpListener::HttpListener(const HttpLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}

HttpListener::~HttpListener() {
  if (!impl_->thread.joinable()) return;
  impl_->load.ending = true;
  impl_->Stop();
  impl_->thread.join();
}

bool HttpListener::Drain(milliseconds limit) {
  const auto end = Clock::now() + limit;
  impl_->Stop();
  while (!impl_->ended && Clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
  return impl_->load.handling == 0;
}

Result<std::unique_ptr<HttpListener>> HttpListener::Start(const std::string& host, int port, Handler handler,
                                                          const HttpLimits& limits) {
  std::unique_ptr<HttpListener> listener(new HttpListener(limits));
  Server& server = listener->impl_->server;
  server.new_task_queue = [&load = listener->impl_->load] { return new Workers(load); };
  Route(server, listener->impl_->load, std::move(handler));
  // The library would share a port with whoever listens there already.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  if (port == 0)
    port = server.bind_to_any_port(host);
  else if (!server.bind_to_port(host, port))
    port = -1;
  if (port <= 0)
    return Fail(ErrorCode::kEnvironment, "cannot listen there: the address is taken, or not this machine's", host,
                "--listen 127.0.0.1:0 takes a free port");
  server.AllowMoreToWait();
  listener->port_ = port;
  // Its threads leave signals to whoever waits for them.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  const auto started = StartThread(listener->impl_->thread, [&server, &ended = listener->impl_->ended] {
    try {
      server.listen_after_bind();
    } catch (const std::exception&) {  // without a thread there are no metrics
      server.stop();
    }
    ended = true;
  });
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  GAPLESS_TRY(started);
  return listener;
}

}  // namespace gapless::internal
