// SPDX-License-Identifier: Apache-2.0
// Makes the bytes of a ring, or of the file saved from one, for tests.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "wire/agent_ring.h"

namespace gapless::internal::wire {

class RingFile {
 public:
  explicit RingFile(uint32_t capacity) {
    std::memcpy(header.magic, kRingMagic.data(), sizeof header.magic);
    header.version = kRingVersion;
    header.header_bytes = kRingHeaderBytes;
    header.record_bytes = kRingRecordBytes;
    header.capacity = capacity;
    header.pid = 42;
    header.start_unix_ns = 1'700'000'000'000'000'000;
    header.rank = header.world_size = header.local_rank = header.device = -1;
    header.state = AgentState::kRuns;
    std::memcpy(header.host, "node7", 5);
    std::memcpy(header.versions, "python 3.11 torch 2.15", 22);
  }

  RingRecord& Add(RecordKind kind, int64_t ts_ns, int64_t dur_ns = 0) {
    records.push_back({.number = ++header.written,
                       .kind = kind,
                       .flags = 0,
                       .value = 0,
                       .ts_ns = ts_ns,
                       .dur_ns = dur_ns,
                       .a = 0,
                       .b = 0,
                       .x = 0,
                       .y = 0});
    return records.back();
  }
  RingRecord& AddStep(int64_t step, int64_t ts_ns, int64_t dur_ns, double wait_ns = 0) {
    RingRecord& record = Add(RecordKind::kStep, ts_ns, dur_ns);
    record.a = step;
    record.b = 16;
    record.x = wait_ns;
    record.y = 5000;
    header.step = static_cast<uint64_t>(step) + 1;
    return record;
  }
  void AddText(int32_t id, std::string_view text) {
    do {
      RingRecord& record = Add(RecordKind::kText, 0);
      const std::string_view piece = text.substr(0, kTextBytes);
      text.remove_prefix(piece.size());
      record.value = id;
      record.flags = static_cast<uint16_t>(piece.size() | (text.empty() ? 0 : kTextGoesOn));
      std::memcpy(reinterpret_cast<char*>(&record) + kTextBytesAt, piece.data(), piece.size());
    } while (!text.empty());
  }

  // The file as it lies on the disk: each record at its place of the ring, later ones over earlier ones; with a
  // capacity of 0 in order.
  std::string Bytes() const {
    std::string bytes(kRingHeaderBytes, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes.resize(kRingHeaderBytes + (header.capacity == 0 ? records.size() : header.capacity) * kRingRecordBytes);
    for (size_t i = 0; i < records.size(); ++i) {
      const size_t place = header.capacity == 0 ? i : (records[i].number - 1) % header.capacity;
      std::memcpy(bytes.data() + kRingHeaderBytes + place * kRingRecordBytes, &records[i], kRingRecordBytes);
    }
    return bytes;
  }

  RingHeader header{};
  std::vector<RingRecord> records;
};

}  // namespace gapless::internal::wire
