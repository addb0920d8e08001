// SPDX-License-Identifier: Apache-2.0
// Cuts a stream of Kineto JSON into chunks of whole events that several threads can parse at once.
//
// JSON has no marks one can jump to: whether a brace is one depends on every quote before it. Scanning every byte first
// would cost as much as parsing. So a chunk ends at a comma that looks like one between two events, and the parser of
// the chunk checks: a chunk that is a sequence of complete objects, starting where the one before ended, is cut right;
// by induction from the first one, all are. If a check fails, the file is read again with `exact` cutting, which scans
// every byte.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/source.h"

namespace gapless::internal::kineto {

// A Chunk is a buffer that one thread fills again and again. Text is data[1, 1 + size): one byte before it and
// kPadding behind it are free, for the brackets of the parser and the reads of simdjson beyond the end.
struct Chunk {
  std::vector<char> data;
  size_t size = 0;
  uint64_t order = 0;   // 0, 1, 2 …
  uint64_t offset = 0;  // offset of the text in the decompressed input
  bool last = false;    // the rest of the input: may hold the end of the array and what follows it
  char* text() { return data.data() + 1; }
  std::string_view view() const { return {data.data() + 1, size}; }
};

inline constexpr size_t kPadding = 64;
inline constexpr size_t kMaxChunkBytes = size_t{1} << 29;  // text without an end of an event: the rest is not read

// A ChunkReader hands out the chunks of one stream, to several threads. Only Next() may be called by several
// threads at once; the accessors are for before and after.
class ChunkReader {
 public:
  ChunkReader(std::unique_ptr<ByteStream> stream, bool exact) : stream_(std::move(stream)), exact_(exact) {}

  // Reads up to the first event. False: there is no array of events (the input is JSON of another kind), or none begins
  // within kMaxChunkBytes; overlong() tells the two apart.
  Result<bool> FindEvents();
  // Fills `chunk` with the next events; false at the end. Thread-safe. After an error of the stream, what came before
  // is delivered as the last chunk, and stream_error() has the reason.
  bool Next(Chunk& chunk);

  // The text before the events, from where their object begins: "{ … "traceEvents":", to be completed with "[]" and the
  // text behind the events.
  const std::string& head() const { return head_; }
  bool bare_array() const { return bare_array_; }
  // Returns true if the object of the events lies in another one, which goes on behind it.
  bool nested() const { return nested_; }
  const Error* stream_error() const { return failed_ ? &error_ : nullptr; }
  uint64_t bytes() const { return bytes_; }
  // Returns true if reading stopped because no event began or ended within kMaxChunkBytes.
  bool overlong() const { return overlong_; }

 private:
  size_t Fill(char* out, size_t size);
  size_t Cut(std::string_view text);

  std::mutex mutex_;
  std::unique_ptr<ByteStream> stream_;
  const bool exact_;
  bool bare_array_ = false, nested_ = false, failed_ = false, ended_ = false, overlong_ = false;
  Error error_;
  std::string head_;
  std::string carry_;
  uint64_t next_order_ = 0, next_offset_ = 0, bytes_ = 0;
};

}  // namespace gapless::internal::kineto
