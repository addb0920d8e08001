// SPDX-License-Identifier: Apache-2.0
// Implements the fetcher's thread; the newest answer replaces the one before. Requests run outside the lock, so
// Take() never waits for the network. An answer over 16 MiB is dropped. Only plain HTTP is spoken.
#include "collect/telemetry/fetcher.h"

#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "collect/start_thread.h"

namespace gapless::internal {
namespace {

constexpr int kPatienceSeconds = 2;
constexpr size_t kLongestAnswer = size_t{16} << 20;

}  // namespace

struct Fetcher::Impl {
  Impl(const std::string& host, std::string given_path, int given_period_ms)
      : client(host), path(std::move(given_path)), period_ms(given_period_ms) {
    client.set_connection_timeout(kPatienceSeconds);
    client.set_read_timeout(kPatienceSeconds);
  }
  void Work();

  httplib::Client client;
  std::string path;
  int period_ms;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::optional<std::string> answer;
  std::thread thread;
};

// Asks, waits for the period, and asks again; stopping interrupts the wait.
void Fetcher::Impl::Work() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex);
  while (!stopping) {
    lock.unlock();
    std::string body;
    const auto got = client.Get(path, [&](const char* data, size_t size) {
      body.append(data, size);
      return body.size() <= kLongestAnswer;
    });
    lock.lock();
    if (got && got->status == 200) answer = std::move(body);
    wake.wait_for(lock, std::chrono::milliseconds(period_ms), [this] { return stopping; });
  }
}

Fetcher::Fetcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Fetcher::~Fetcher() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  impl_->client.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Result<std::unique_ptr<Fetcher>> Fetcher::Start(const std::string& url, int period_ms) {
  constexpr std::string_view kScheme = "http://";
  const size_t slash = url.find('/', kScheme.size());
  const std::string host = url.substr(0, slash);
  if (!url.starts_with(kScheme) || host.size() == kScheme.size())
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(url), "' is no address of plain HTTP"), "",
                "http://localhost:9400/metrics");
  std::unique_ptr<Impl> impl;
  try {
    impl = std::make_unique<Impl>(host, slash == std::string::npos ? "/" : url.substr(slash), period_ms);
  } catch (const std::exception&) {  // the library takes the address apart with regular expressions
    impl = nullptr;
  }
  if (!impl || !impl->client.is_valid()) return Fail(ErrorCode::kUsage, StrCat("'", Printable(url), "' is no address"));
  std::unique_ptr<Fetcher> fetcher(new Fetcher(std::move(impl)));
  GAPLESS_TRY(StartThread(fetcher->impl_->thread, [work = fetcher->impl_.get()] { work->Work(); }));
  return fetcher;
}

std::optional<std::string> Fetcher::Take() {
  const std::lock_guard lock(impl_->mutex);
  std::optional<std::string> taken;
  taken.swap(impl_->answer);
  return taken;
}

}  // namespace gapless::internal
