// SPDX-License-Identifier: Apache-2.0
// One block of the stream while it is filled. Records are written into it field by field; when one does not fit any
// more the block is closed, handed to the sink, and begun anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cupti_stream.h"

namespace gapless::internal::inject {

// Takes finished blocks, header and filling included.
class BlockSink {
 public:
  virtual void Write(const uint8_t* block, size_t bytes, uint32_t records) = 0;

 protected:
  ~BlockSink() = default;
};

// A Block never allocates memory. Not thread-safe. Nothing checks that a record stays within the bytes given
// to Begin().
class Block {
 public:
  static constexpr size_t kPayloadBytes = size_t{192} * 1024;
  static constexpr size_t kMaxBody = 254;  // maximum length of a record without text

  explicit Block(BlockSink& sink) : sink_(sink) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Sets the readings of both clocks, in ns, that go into the head of each block closed from now on.
  void SetClocks(int64_t cupti_ns, int64_t unix_ns) { cupti_ns_ = cupti_ns, unix_ns_ = unix_ns; }

  // Begins a record whose body is at most `most` bytes. Fields follow, then End().
  void Begin(wire::RecordType type, size_t most = kMaxBody) {
    if (sizeof(wire::BlockHeader) + kPayloadBytes - used_ < most + kLongHead) Close();
    begin_ = bytes_ + used_;
    begin_[0] = static_cast<uint8_t>(type);
    type_ = static_cast<size_t>(type);
    begin_[1] = most > kMaxBody ? 0xFF : 0;
    at_ = begin_ + (most > kMaxBody ? kLongHead : 2);
  }
  void Put(uint64_t value) { at_ = wire::PutVarint(at_, value); }
  void PutSigned(int64_t value) { Put(wire::Fold(value)); }
  // The value plus one; 0 when it is `none`.
  void PutOrNone(uint32_t value, uint32_t none) { Put(value == none ? 0 : uint64_t{value} + 1); }
  // Start and duration: the common beginning of everything that lasts.
  void PutTime(uint64_t start, uint64_t end) {
    PutStart(start);
    Put(end >= start && end != 0 ? end - start + 1 : 0);
  }
  void PutStart(uint64_t start) {
    PutSigned(static_cast<int64_t>(start - last_start_[type_]));
    last_start_[type_] = start;
  }
  void PutCorrelation(uint64_t correlation) {
    PutSigned(static_cast<int64_t>(correlation - last_correlation_[type_]));
    last_correlation_[type_] = correlation;
  }
  void PutBytes(const void* bytes, size_t size);
  void End() {
    if (begin_[1] == 0)
      begin_[1] = static_cast<uint8_t>(at_ - begin_ - 2);
    else
      PutLength();
    used_ = static_cast<size_t>(at_ - bytes_);
    ++records_;
  }

  // Hands over what there is, if anything, and begins the next block.
  void Close();
  uint32_t records() const { return records_; }

 private:
  static constexpr size_t kLongHead = 6;  // type, 255, u32

  void PutLength();

  BlockSink& sink_;
  size_t used_ = sizeof(wire::BlockHeader);
  uint32_t records_ = 0;
  int64_t cupti_ns_ = 0, unix_ns_ = 0;
  size_t type_ = 0;
  uint8_t* begin_ = nullptr;
  uint8_t* at_ = nullptr;
  uint64_t last_start_[wire::kRecordTypes] = {}, last_correlation_[wire::kRecordTypes] = {};
  alignas(8) uint8_t bytes_[sizeof(wire::BlockHeader) + kPayloadBytes + 8];
};

}  // namespace gapless::internal::inject
