// SPDX-License-Identifier: Apache-2.0
// Implements the gzip and Zstandard sinks. Compression runs on a second thread; a single block waits while another
// is compressed, which bounds the memory.
//
// So a writer and its compression run at the same time, and the slower of the two sets the pace. If the inner sink
// refuses a block, one of the next Write() calls returns false, and Finish() returns the inner sink's reason. An
// exception of the second thread (no memory) is rethrown by the next Write() or by Finish(). If the system refuses the
// thread, blocks are compressed by the writer's.
#include "convert/compress.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace gapless::internal {
namespace {

constexpr size_t kOutBytes = size_t{256} * 1024;
constexpr int kZstdLevel = 3;

class GzipSink : public Sink {
 public:
  explicit GzipSink(std::unique_ptr<Sink> inner)
      : inner_(std::move(inner)), out_(kOutBytes), level_buffer_(ISAL_DEF_LVL1_DEFAULT) {
    isal_deflate_init(&stream_);
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.level = 1;
    stream_.level_buf = level_buffer_.data();
    stream_.level_buf_size = static_cast<uint32_t>(level_buffer_.size());
  }

  bool Write(std::string_view block) override {
    constexpr size_t kMax = size_t{1} << 30;  // the library counts in 32 bits
    for (; block.size() > kMax; block.remove_prefix(kMax))
      if (!Deflate(block.substr(0, kMax), false)) return false;
    return Deflate(block, false);
  }
  Result<void> Finish() override {
    Deflate({}, true);
    return inner_->Finish();
  }

 private:
  // Compresses a block until the library has taken all of it, or, with `last`, until the end of the stream is
  // written.
  bool Deflate(std::string_view block, bool last) {
    stream_.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(block.data()));
    stream_.avail_in = static_cast<uint32_t>(block.size());
    stream_.end_of_stream = last ? 1 : 0;
    do {
      stream_.next_out = reinterpret_cast<uint8_t*>(out_.data());
      stream_.avail_out = static_cast<uint32_t>(out_.size());
      isal_deflate(&stream_);
      if (!inner_->Write({out_.data(), out_.size() - stream_.avail_out})) return false;
    } while (last ? stream_.internal_state.state != ZSTATE_END : stream_.avail_out == 0);
    return true;
  }

  std::unique_ptr<Sink> inner_;
  std::vector<char> out_;
  std::vector<uint8_t> level_buffer_;
  isal_zstream stream_{};
};

class ZstdSink : public Sink {
 public:
  explicit ZstdSink(std::unique_ptr<Sink> inner)
      : inner_(std::move(inner)), out_(kOutBytes), context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  bool Write(std::string_view block) override { return Compress(block, ZSTD_e_continue); }
  Result<void> Finish() override {
    Compress({}, ZSTD_e_end);
    return inner_->Finish();
  }

 private:
  // Compresses a block until the library has taken all of it, or, with ZSTD_e_end, until the frame is complete.
  bool Compress(std::string_view block, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_.get(), &out, &in, directive);
      if (ZSTD_isError(left)) throw std::bad_alloc();  // with valid arguments the library fails for want of memory only
      if (!inner_->Write({out_.data(), out.pos})) return false;
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) return true;
    }
  }

  std::unique_ptr<Sink> inner_;
  std::vector<char> out_;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context_;
};

// Hands each block to a thread that passes it on; one block waits while another is at work.
class ThreadedSink : public Sink {
 public:
  explicit ThreadedSink(std::unique_ptr<Sink> inner) : inner_(std::move(inner)) {
    try {
      thread_ = std::thread([this] { Loop(); });
    } catch (const std::system_error&) {
    }
  }
  ~ThreadedSink() override { Stop(); }

  bool Write(std::string_view block) override {
    if (!thread_.joinable()) return inner_->Write(block);
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return !full_; });
    if (failure_) std::rethrow_exception(failure_);
    if (!good_) return false;
    waiting_.assign(block);
    full_ = true;
    wake_.notify_one();
    return true;
  }
  Result<void> Finish() override {
    Stop();
    if (failure_) std::rethrow_exception(failure_);
    return inner_->Finish();
  }

 private:
  void Stop() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  // Passes blocks on outside the lock, so that the writer can fill the next one meanwhile. A block that waits when
  // the sink is stopped is still written, unless one before it failed.
  void Loop() {
    std::string block;
    for (std::unique_lock lock(mutex_);;) {
      wake_.wait(lock, [this] { return full_ || stopping_; });
      if (!full_) return;
      block.swap(waiting_);
      full_ = false;
      free_.notify_one();
      lock.unlock();
      if (good_) PassOn(block);
      lock.lock();
    }
  }
  // Called by the second thread without the lock. The writer reads the results under the lock, after the next block
  // was taken, or after the thread has ended.
  void PassOn(const std::string& block) {
    bool good = false;
    std::exception_ptr failure;
    try {
      good = inner_->Write(block);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    good_ = good;
    failure_ = failure;
  }

  std::unique_ptr<Sink> inner_;
  std::mutex mutex_;
  std::condition_variable wake_, free_;
  std::string waiting_;
  bool full_ = false, stopping_ = false, good_ = true;
  std::exception_ptr failure_;
  std::thread thread_;
};

// Collects a stream in a text.
class TextSink : public Sink {
 public:
  explicit TextSink(std::string& out) : out_(out) {}
  bool Write(std::string_view block) override {
    out_.append(block);
    return true;
  }
  Result<void> Finish() override { return {}; }

 private:
  std::string& out_;
};

}  // namespace

std::string Gzipped(std::string_view text) {
  std::string out;
  GzipSink sink(std::make_unique<TextSink>(out));
  sink.Write(text);
  (void)sink.Finish();  // writing to memory does not fail
  return out;
}

std::unique_ptr<Sink> CompressByName(std::string_view file_name, std::unique_ptr<Sink> inner) {
  if (file_name.ends_with(".gz"))
    inner = std::make_unique<GzipSink>(std::move(inner));
  else if (file_name.ends_with(".zst"))
    inner = std::make_unique<ZstdSink>(std::move(inner));
  else
    return inner;
  return std::make_unique<ThreadedSink>(std::move(inner));
}

}  // namespace gapless::internal
