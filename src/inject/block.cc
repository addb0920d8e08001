// SPDX-License-Identifier: Apache-2.0
// Closes blocks: pads the payload, adds the checksum and the clock readings, and hands the block to the sink.
// Differences of times and correlations start from 0 in each block, so a damaged block does not spoil the next.
#include "inject/block.h"

#include <cstring>

namespace gapless::internal::inject {

void Block::PutBytes(const void* bytes, size_t size) {
  std::memcpy(at_, bytes, size);
  at_ += size;
}

void Block::PutLength() {
  const auto length = static_cast<uint32_t>(at_ - begin_ - static_cast<ptrdiff_t>(kLongHead));
  std::memcpy(begin_ + 2, &length, sizeof length);
}

void Block::Close() {
  if (records_ == 0) return;
  const size_t payload = used_ - sizeof(wire::BlockHeader), padded = wire::Padded(payload);
  std::memset(bytes_ + used_, 0, padded - payload);
  const wire::BlockHeader header{
      .magic = wire::kBlockMagic,
      .payload_bytes = static_cast<uint32_t>(payload),
      .record_count = records_,
      .checksum = wire::Checksum(bytes_ + sizeof(wire::BlockHeader), padded),
      .cupti_ns = cupti_ns_,
      .unix_ns = unix_ns_,
  };
  std::memcpy(bytes_, &header, sizeof header);
  sink_.Write(bytes_, sizeof header + padded, records_);
  used_ = sizeof(wire::BlockHeader);
  records_ = 0;
  std::memset(last_start_, 0, sizeof last_start_);
  std::memset(last_correlation_, 0, sizeof last_correlation_);
}

}  // namespace gapless::internal::inject
