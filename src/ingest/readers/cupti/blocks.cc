// SPDX-License-Identifier: Apache-2.0
// Reads a CUPTI stream block by block, and checks each header and size first.
//
// A block is a header with magic, length, checksum and clock readings, and a payload that is padded to whole
// words. A block with a wrong checksum is skipped, and reading goes on behind it. A wrong magic or an impossible
// length ends the reading, since the start of the next block is then unknown. One block is in memory at a time.
#include "ingest/readers/cupti/blocks.h"

#include <algorithm>
#include <cstring>

namespace gapless::internal::cupti {

size_t BlockReader::Fill(void* out, size_t size) {
  size_t used = 0;
  while (used < size && !error_) {
    auto got = stream_->Read(static_cast<char*>(out) + used, size - used);
    if (!got)
      error_ = got.error();
    else if (*got == 0)
      break;
    else
      used += *got;
  }
  offset_ += used;
  return used;
}

bool BlockReader::ReadHeader() {
  if (Fill(&header_, sizeof header_) != sizeof header_ ||
      std::memcmp(header_.magic, wire::kCuptiMagic, sizeof header_.magic) != 0)
    return Stop(End::kTruncated);
  header_.host[sizeof header_.host - 1] = '\0';
  if (header_.version != wire::kCuptiVersion) return Stop(End::kAnotherVersion);
  if (header_.header_bytes < sizeof header_ || header_.header_bytes > sizeof header_ + 65536)
    return Stop(End::kDamaged);
  std::vector<uint8_t> more(header_.header_bytes - sizeof header_);
  return Fill(more.data(), more.size()) == more.size() || Stop(End::kTruncated);
}

bool BlockReader::Next(Block& block) {
  while (end_ == End::kNotYet) {
    const size_t got = Fill(&block.header, sizeof block.header);
    if (got == 0) return Stop(End::kWhole);
    if (got < sizeof block.header) return Stop(End::kTruncated);
    if (block.header.magic != wire::kBlockMagic || block.header.payload_bytes > wire::kMaxPayloadBytes)
      return Stop(End::kDamaged);
    block.offset = offset_;
    const size_t padded = wire::Padded(block.header.payload_bytes);
    // Grown as the bytes come: a length alone costs no memory.
    block.payload.clear();
    for (size_t used = 0; used < padded;) {
      const size_t piece = std::min<size_t>(padded - used, 1 << 20);
      block.payload.resize(used + piece);
      if (Fill(block.payload.data() + used, piece) < piece) return Stop(End::kTruncated);
      used += piece;
    }
    if (wire::Checksum(block.payload.data(), padded) == block.header.checksum) {
      block.payload.resize(block.header.payload_bytes);
      return true;
    }
    if (damaged_blocks_++ == 0) first_damaged_ = static_cast<int64_t>(block.offset);
  }
  return false;
}

}  // namespace gapless::internal::cupti
