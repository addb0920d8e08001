// SPDX-License-Identifier: Apache-2.0
// Fills a buffer from the stream, finds the traceEvents array, and cuts it at commas between events.
//
// The bytes behind a cut are kept and begin the next chunk. A chunk grows beyond 1 MiB, doubling, only if no cut
// is found in it. An "event" of 256 MiB is cut wherever one seems to end; without such a place, reading stops at
// 512 MiB.
#include "ingest/readers/kineto/chunks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ingest/readers/kineto/scan.h"

namespace gapless::internal::kineto {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t kMaxEventBytes = kMaxChunkBytes / 2;  // a longer "event" is cut wherever it looks like one ends
constexpr size_t kMaxHeadBytes = size_t{64} << 20;

// A HeadScanner finds the value of the key "traceEvents" of a JSON object, which may lie in others, or the bracket of a
// bare array. Scans byte by byte, since the text before the events is short.
class HeadScanner {
 public:
  enum class State : uint8_t { kMore, kFound, kNone };
  // Scans one byte. kFound: it is the bracket that opens the events.
  State Step(char c) {
    ++at_;
    if (in_string_) return InString(c), State::kMore;
    switch (c) {
      case '"':
        in_string_ = true;
        string_.clear();
        return State::kMore;
      case '[':
        if (depth_ == 0 || (is_events_value_ && depth_ <= kMaxNesting)) return bare_ = depth_ == 0, State::kFound;
        Open();
        return State::kMore;
      case '{':
        Open();
        is_events_value_ = false;
        return State::kMore;
      case '}':
      case ']':
        if (depth_ > 0) --depth_;
        is_events_value_ = false;
        return depth_ == 0 ? State::kNone : State::kMore;
      case ':': is_events_value_ = string_ == "traceEvents"; return State::kMore;
      case ',': is_events_value_ = false; return State::kMore;
      default: return State::kMore;
    }
  }
  bool bare() const { return bare_; }
  // Place of the object that holds the events, in bytes scanned before it.
  size_t object_at() const { return depth_ > 0 ? opened_at_[depth_ - 1] : 0; }
  bool nested() const { return depth_ > 1; }

 private:
  void InString(char c) {
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"')
      in_string_ = false;
    if (in_string_ && string_.size() < 16) string_ += c;
  }
  void Open() {
    if (depth_ < kMaxNesting) opened_at_[depth_] = at_;
    ++depth_;
  }
  size_t at_ = static_cast<size_t>(-1);          // place of the byte that was scanned last
  size_t depth_ = 0;                             // objects and arrays that are open
  std::array<size_t, kMaxNesting> opened_at_{};  // places of the outermost open objects
  bool in_string_ = false, escaped_ = false, is_events_value_ = false, bare_ = false;
  std::string string_;
};

}  // namespace

// Returns the number of bytes that were read; fewer than `size` only at the end, or after an error, which is kept.
size_t ChunkReader::Fill(char* out, size_t size) {
  size_t done = 0;
  while (done < size && !ended_) {
    auto got = stream_->Read(out + done, size - done);
    if (!got) {
      error_ = got.error();
      failed_ = ended_ = true;
    } else if (*got == 0) {
      ended_ = true;
    } else {
      done += *got;
    }
  }
  bytes_ += done;
  return done;
}

Result<bool> ChunkReader::FindEvents() {
  HeadScanner scanner;
  std::vector<char> buffer(size_t{64} * 1024);
  bool first = true;
  while (const size_t got = Fill(buffer.data(), buffer.size())) {
    size_t at = 0;
    if (first && got >= 3 && std::memcmp(buffer.data(), "\xEF\xBB\xBF", 3) == 0) at = 3;
    for (; at < got; ++at) {
      const char c = buffer[at];
      if (first && c != ' ' && c != '\n' && c != '\r' && c != '\t') {
        if (c != '{' && c != '[') return false;
        first = false;
      }
      const auto state = scanner.Step(c);
      if (state == HeadScanner::State::kNone) return false;
      if (state == HeadScanner::State::kFound) {
        bare_array_ = scanner.bare(), nested_ = scanner.nested();
        head_.erase(0, std::min(head_.size(), scanner.object_at()));
        carry_.assign(buffer.data() + at + 1, got - at - 1);
        next_offset_ = bytes_ - carry_.size();
        return true;
      }
      if (head_.size() < kMaxHeadBytes) head_ += c;
    }
    // A bomb of spaces would keep the scanner busy for minutes.
    if (bytes_ > kMaxChunkBytes) {
      overlong_ = true;
      return false;
    }
  }
  if (failed_) return Unexpected{error_};
  return false;
}

// Returns where to cut `text`: the position of a comma, or kNotFound.
size_t ChunkReader::Cut(std::string_view text) {
  if (!exact_) return LastEventComma(text);
  ArrayScanner scanner;
  scanner.Scan(text);
  if (scanner.ended()) return kNotFound;
  if (scanner.last_comma() == kNotFound && text.size() >= kMaxEventBytes) return LastEventComma(text);
  return scanner.last_comma();
}

// The lock is held while reading and decompressing; parsing happens outside. An input without any event still
// gives one empty chunk, so that one thread handles the end of the array.
bool ChunkReader::Next(Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  if (ended_ && carry_.empty()) return false;
  size_t size = carry_.size();
  chunk.data.resize(std::max(chunk.data.size(), 1 + std::max(kChunkBytes, size) + kPadding));
  std::memcpy(chunk.text(), carry_.data(), size);
  carry_.clear();
  size_t cut = kNotFound;
  for (size_t target = kChunkBytes;; target = size * 2) {
    if (target > size) {
      if (chunk.data.size() < 1 + target + kPadding) chunk.data.resize(1 + target + kPadding);
      size += Fill(chunk.text() + size, target - size);
    }
    if (ended_) break;
    cut = Cut({chunk.text(), size});
    if (cut != kNotFound) break;
    if (size >= kMaxChunkBytes) {
      overlong_ = ended_ = true;
      break;
    }
  }
  chunk.last = cut == kNotFound;
  chunk.size = chunk.last ? size : cut;
  chunk.order = next_order_++;
  chunk.offset = next_offset_;
  if (!chunk.last) carry_.assign(chunk.text() + cut + 1, size - cut - 1);
  next_offset_ += chunk.last ? size : cut + 1;
  return size > 0 || chunk.order == 0;
}

}  // namespace gapless::internal::kineto
