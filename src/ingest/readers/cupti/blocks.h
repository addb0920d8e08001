// SPDX-License-Identifier: Apache-2.0
// The blocks of a CUPTI stream, one after the other, each checked before it is handed out.
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
  enum class End : uint8_t { kNotYet, kWhole, kTruncated, kDamaged };

  explicit BlockReader(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  // False: this is no such stream, or of a version not known; error() says which, if the input did not just end.
  bool ReadHeader();
  // The next block whose checksum is right. Others are counted and skipped.
  bool Next(Block& block);

  const wire::FileHeader& header() const { return header_; }
  End end() const { return end_; }
  uint64_t offset() const { return offset_; }
  int64_t damaged_blocks() const { return damaged_blocks_; }
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
