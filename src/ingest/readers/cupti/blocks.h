// SPDX-License-Identifier: Apache-2.0
// A Block is one piece of a CUPTI stream; a BlockReader hands them out one after the other, each checked before.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ingest/source.h"
#include "wire/cupti_stream.h"

namespace gapless::internal::cupti {

struct Block {
  wire::BlockHeader header{};
  std::vector<uint8_t> payload;  // without the filling
  uint64_t offset = 0;           // offset of the payload in the input
};

class BlockReader {
 public:
  // kWhole: the input ended behind a block. kTruncated: within one. kDamaged: a header is wrong. kAnotherVersion: that
  // of the file is of a version not known.
  enum class End : uint8_t { kNotYet, kWhole, kTruncated, kDamaged, kAnotherVersion };

  explicit BlockReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // Reads the header of the file. Returns false if this is no such stream, or of a version not known; end() says
  // which, and stream_error() has the error of the input if it did not just end.
  bool ReadHeader();
  // Fills `block` with the next one whose checksum is right; others are counted and skipped. Returns false at the
  // end; `block` keeps its memory, so use one object for all.
  bool Next(Block& block);

  const wire::FileHeader& header() const { return header_; }
  End end() const { return end_; }
  uint64_t offset() const { return offset_; }
  int64_t damaged_blocks() const { return damaged_blocks_; }
  // Offset in bytes of the first damaged payload; 0 if none is damaged.
  int64_t first_damaged() const { return first_damaged_; }
  const std::optional<Error>& stream_error() const { return error_; }

 private:
  size_t Fill(void* out, size_t size);
  bool Stop(End end) { return end_ = end, false; }

  std::unique_ptr<ByteStream> stream_;
  wire::FileHeader header_{};
  End end_ = End::kNotYet;
  uint64_t offset_ = 0;
  int64_t damaged_blocks_ = 0, first_damaged_ = 0;
  std::optional<Error> error_;
};

}  // namespace gapless::internal::cupti
