// SPDX-License-Identifier: Apache-2.0
// Implements byte sources over files, with streaming decompression of gzip and Zstandard. The content decides the
// format, not the name.
//
// A stream decompresses into the caller's buffer and holds 256 KiB of input, whatever the size of the file.
// Several gzip members or Zstandard frames in a row count as one text. Text before a damaged place is delivered;
// the error comes with the next call. Each stream has a place of its own in the file.
#include "ingest/source.h"

#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>

#include "base/portable.h"
#include "base/strings.h"
#include "base/suggest.h"

namespace gapless::internal {
namespace {

constexpr size_t kInputBytes = size_t{256} * 1024;
constexpr size_t kMostNeighbours = 1000;  // entries of a folder among which a misspelt name is looked for

// A descriptor that is closed with the last who has it.
using SharedFile = std::shared_ptr<const int>;
SharedFile Shared(int fd) {
  return {new int(fd), [](const int* held) {
            close(*held);
            delete held;
          }};
}

// A FileStream reads a file from byte `at` on as it is, and counts the bytes for progress.
class FileStream : public ByteStream {
 public:
  FileStream(SharedFile file, uint64_t at, std::string path, std::atomic<uint64_t>& taken)
      : file_(std::move(file)), at_(at), path_(std::move(path)), taken_(taken) {}

  Result<size_t> Read(char* out, size_t size) override {
    size_t done = 0;
    while (done < size) {
      const ssize_t got = pread(*file_, out + done, size - done, static_cast<off_t>(at_ + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return Fail(ErrorCode::kInput, StrCat("cannot read: ", std::strerror(errno)), path_);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    at_ += done;
    taken_.fetch_add(done, std::memory_order_relaxed);
    return done;
  }

 private:
  SharedFile file_;
  uint64_t at_;
  std::string path_;
  std::atomic<uint64_t>& taken_;
};

// Decompresses into the caller's buffer; the two formats differ in Step() only.
class InflatingStream : public ByteStream {
 public:
  InflatingStream(std::unique_ptr<ByteStream> inner, std::string path)
      : inner_(std::move(inner)), path_(std::move(path)), input_(kInputBytes) {}

  Result<size_t> Read(char* out, size_t size) override {
    size_t done = 0;
    if (problem_ != nullptr) return Broken(problem_, 0);
    while (done < size) {
      if (begin_ == end_ && !input_ended_) GAPLESS_TRY(Refill());
      if (begin_ == end_ && at_boundary_) break;
      const size_t before_in = begin_, before_out = done;
      if (const char* problem = Step(out, size, done)) return Broken(problem, done);
      if (begin_ == end_ && input_ended_ && !at_boundary_ && done == before_out)
        return Broken("the compressed data ends too early", done);
      if (begin_ == before_in && done == before_out && begin_ != end_)
        return Broken("the compressed data makes no progress", done);
    }
    return done;
  }

 protected:
  // Consumes [begin_, end_) of input_ into out[done, size). Returns what is wrong with the data, or null. Sets
  // at_boundary_ when the input may end here.
  virtual const char* Step(char* out, size_t size, size_t& done) = 0;

  std::unique_ptr<ByteStream> inner_;
  std::string path_;
  std::vector<char> input_;
  size_t begin_ = 0, end_ = 0;
  bool at_boundary_ = false;

 private:
  Result<void> Refill() {
    GAPLESS_ASSIGN(auto got, inner_->Read(input_.data(), input_.size()));
    begin_ = 0;
    end_ = got;
    input_ended_ = got == 0;
    return {};
  }
  // The text that was inflated before the damage is delivered first; the error comes with the next call.
  Result<size_t> Broken(const char* problem, size_t done) {
    problem_ = problem;
    if (done > 0) return done;
    return Fail(ErrorCode::kInput, problem, path_, "the file was cut off or damaged: copy it again");
  }

  const char* problem_ = nullptr;
  bool input_ended_ = false;
};

class GzipStream : public InflatingStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> inner, std::string path) : InflatingStream(std::move(inner), std::move(path)) {
    Reset();
  }

 private:
  void Reset() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }
  const char* Step(char* out, size_t size, size_t& done) override {
    if (at_boundary_) {
      // Another member follows, or padding with zeros, or something else that gzip ignores too.
      if (static_cast<unsigned char>(input_[begin_]) != 0x1F) {
        begin_ = end_;
        return nullptr;
      }
      Reset();
      at_boundary_ = false;
    }
    state_.next_in = reinterpret_cast<uint8_t*>(input_.data() + begin_);
    state_.avail_in = static_cast<uint32_t>(end_ - begin_);
    state_.next_out = reinterpret_cast<uint8_t*>(out + done);
    const auto room = static_cast<uint32_t>(std::min<size_t>(size - done, std::numeric_limits<uint32_t>::max() / 2));
    state_.avail_out = room;
    const int status = isal_inflate(&state_);
    begin_ = end_ - state_.avail_in;
    done += room - state_.avail_out;
    if (status != ISAL_DECOMP_OK) return "the gzip data is damaged";
    at_boundary_ = state_.block_state == ISAL_BLOCK_FINISH;
    return nullptr;
  }
  inflate_state state_{};
};

class ZstdStream : public InflatingStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> inner, std::string path)
      : InflatingStream(std::move(inner), std::move(path)), context_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (context_ == nullptr) throw std::bad_alloc();
    // The library's default refuses windows over 128 MiB, which `zstd --long=31` makes.
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 31);
  }

 private:
  const char* Step(char* out, size_t size, size_t& done) override {
    ZSTD_inBuffer in{input_.data(), end_, begin_};
    ZSTD_outBuffer to{out, size, done};
    const size_t left = ZSTD_decompressStream(context_.get(), &to, &in);
    begin_ = in.pos;
    done = to.pos;
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_isError(left)) return "the Zstandard data is damaged";
    at_boundary_ = left == 0;
    return nullptr;
  }
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> context_;
};

// Inflates what begins like a compressed file.
std::unique_ptr<ByteStream> StreamOf(const SharedFile& file, uint64_t first, const std::string& path,
                                     std::atomic<uint64_t>& taken) {
  taken = 0;
  WillReadInOrder(*file);
  unsigned char magic[4] = {};
  const ssize_t got = pread(*file, magic, sizeof magic, static_cast<off_t>(first));
  auto stream = std::make_unique<FileStream>(file, first, path, taken);
  if (got >= 2 && magic[0] == 0x1F && magic[1] == 0x8B) return std::make_unique<GzipStream>(std::move(stream), path);
  if (got == 4 && magic[0] == 0x28 && magic[1] == 0xB5 && magic[2] == 0x2F && magic[3] == 0xFD)
    return std::make_unique<ZstdStream>(std::move(stream), path);
  return stream;
}

class FileSource : public Source {
 public:
  FileSource(std::string path, uint64_t bytes) {
    path_ = std::move(path);
    stored_bytes_ = bytes;
  }
  Result<std::unique_ptr<ByteStream>> Open() override {
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      return Fail(ErrorCode::kInput, StrCat("cannot open: ", std::strerror(errno)), path_,
                  errno == EACCES ? StrCat("who may read it: ls -l ", ShellWord(path_)) : "");
    return StreamOf(Shared(fd), 0, path_, bytes_taken_);
  }
};

// All its streams read through one descriptor, each from a place of its own.
class OpenedSource : public Source {
 public:
  OpenedSource(OpenedFile file, std::string name) : file_(Shared(file.fd)), first_(file.first) {
    path_ = std::move(name);
    stored_bytes_ = file.bytes;
  }
  Result<std::unique_ptr<ByteStream>> Open() override { return StreamOf(file_, first_, path_, bytes_taken_); }

 private:
  SharedFile file_;
  uint64_t first_;
};

// Names the entry of the same folder that is spelt nearly like the path.
std::string HintForPath(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path wanted(path);
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator at(wanted.has_parent_path() ? wanted.parent_path() : fs::path("."), error), end;
       !error && at != end && names.size() < kMostNeighbours; at.increment(error))
    names.push_back(at->path().filename().string());
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view nearest = Nearest(wanted.filename().string(), views);
  if (nearest.empty()) return "check the path";
  return StrCat("did you mean ", (wanted.parent_path() / nearest).string(), "?");
}

}  // namespace

Result<std::unique_ptr<Source>> OpenFile(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    return Fail(ErrorCode::kInput, StrCat("cannot open: ", std::strerror(errno)), path, HintForPath(path));
  if (S_ISDIR(info.st_mode)) return Fail(ErrorCode::kInput, "is a folder, not a file", path);
  return std::unique_ptr<Source>(
      std::make_unique<FileSource>(path, S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0));
}

std::unique_ptr<Source> SourceOf(OpenedFile file, std::string name) {
  return std::make_unique<OpenedSource>(file, std::move(name));
}

}  // namespace gapless::internal
