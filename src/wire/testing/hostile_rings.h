// SPDX-License-Identifier: Apache-2.0
// Rings as a process that lies would write them: sound ones of random records, and then damaged at random. The same
// seed gives the same ring.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include "wire/testing/ring_file.h"

namespace gapless::internal::wire {

class HostileRings {
 public:
  explicit HostileRings(uint64_t seed) : random_(seed) {}

  RingFile Next() {
    RingFile ring(Below(4) == 0 ? 0 : uint32_t{1} << (4 + Below(6)));
    const uint64_t records = Below(200);
    for (uint64_t i = 0; i < records; ++i) AddRecord(ring);
    if (Below(2) == 0) SpoilHeader(ring.header);
    return ring;
  }
  // The bytes of such a ring, some of them turned over and the end cut off now and then.
  std::string NextBytes() {
    RingFile ring = Next();
    const uint32_t capacity = ring.header.capacity;
    if (ring.header.capacity > 1024) ring.header.capacity = 16;  // how many places the file really has
    std::string bytes = ring.Bytes();
    std::memcpy(bytes.data() + offsetof(RingHeader, capacity), &capacity, sizeof capacity);
    if (Below(3) == 0)
      for (uint64_t i = Below(50); i > 0; --i) bytes[Below(bytes.size())] = static_cast<char>(Below(256));
    if (Below(4) == 0) bytes.resize(Below(bytes.size() + 1));
    return bytes;
  }
  uint64_t Below(uint64_t end) { return end == 0 ? 0 : random_() % end; }

  // Numbers at the edges, and some in between.
  int64_t Number() {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
    constexpr int64_t kEdges[] = {0, 1, -1, 15, 1'000'000'000'000, 1'700'000'000'000'000'000, kMax - 1, kMax, kMin};
    const uint64_t which = Below(std::size(kEdges) + 3);
    return which < std::size(kEdges) ? kEdges[which] : static_cast<int64_t>(random_() >> Below(64));
  }
  double Real() {
    constexpr double kEdges[] = {0.0,
                                 -1.0,
                                 2.5,
                                 1e18,
                                 1e300,
                                 -1e300,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
    return kEdges[Below(std::size(kEdges))];
  }

 private:
  void AddRecord(RingFile& ring) {
    if (Below(8) == 0) return ring.AddText(static_cast<int32_t>(Number()), std::string(Below(200), 'x'));
    RingRecord& record = ring.Add(static_cast<RecordKind>(Below(24)), Number(), Number());
    record.flags = static_cast<uint16_t>(random_());
    record.value = static_cast<int32_t>(Number());
    record.a = Number(), record.b = Number();
    record.x = Real(), record.y = Real();
    if (Below(20) == 0) record.number = static_cast<uint64_t>(Number());
  }
  void SpoilHeader(RingHeader& header) {
    if (Below(3) == 0) header.written = static_cast<uint64_t>(Number());
    if (Below(3) == 0) header.step = static_cast<uint64_t>(Number());
    if (Below(3) == 0) header.capacity = Below(2) == 0 ? uint32_t{1} << Below(32) : static_cast<uint32_t>(Number());
    if (Below(3) == 0) header.pid = Number();
    if (Below(3) == 0) header.rank = static_cast<int32_t>(Number());
    if (Below(3) == 0) header.cost_ns = static_cast<uint64_t>(Number());
    if (Below(3) == 0) header.state = static_cast<AgentState>(random_());
    if (Below(3) == 0) header.role = static_cast<AgentRole>(random_());
    if (Below(4) == 0) std::memset(header.host, 'h', sizeof header.host);  // without an end
  }

  std::mt19937_64 random_;
};

}  // namespace gapless::internal::wire
