// SPDX-License-Identifier: Apache-2.0
// Streams made by hand, for tests and fuzzing.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "wire/cupti_stream.h"

namespace gapless::internal::cupti::testing {

// A block around a payload, with the right checksum.
inline std::string BlockOf(std::string payload, int64_t cupti_ns, int64_t unix_ns, uint32_t records = 1) {
  wire::BlockHeader header{.magic = wire::kBlockMagic,
                           .payload_bytes = static_cast<uint32_t>(payload.size()),
                           .record_count = records,
                           .checksum = 0,
                           .cupti_ns = cupti_ns,
                           .unix_ns = unix_ns};
  payload.resize(wire::Padded(payload.size()));
  header.checksum = wire::Checksum(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

inline std::string FileHeaderOf(int64_t pid, int64_t rank = -1, uint32_t version = wire::kCuptiVersion) {
  wire::FileHeader header{};
  std::memcpy(header.magic, wire::kCuptiMagic, sizeof header.magic);
  header.version = version, header.header_bytes = sizeof header;
  header.pid = pid, header.rank = rank, header.world_size = -1;
  std::memcpy(header.host, "node", 5);
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

// Returns the values as varints, one after the other.
inline std::string Varints(std::initializer_list<uint64_t> values) {
  std::string text;
  for (const uint64_t value : values) {
    uint8_t bytes[wire::kMaxVarintBytes];
    text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(wire::PutVarint(bytes, value) - bytes));
  }
  return text;
}

// Returns a record around its fields. The body must be shorter than 255 bytes: the long form is not written.
inline std::string RecordOf(wire::RecordType type, std::string body) {
  return std::string{static_cast<char>(type), static_cast<char>(body.size())} + std::move(body);
}
inline std::string RecordOf(wire::RecordType type, std::initializer_list<uint64_t> fields) {
  return RecordOf(type, Varints(fields));
}
inline std::string TextOf(uint64_t number, std::string_view text) {
  return RecordOf(wire::RecordType::kText, Varints({number}) + std::string(text));
}

}  // namespace gapless::internal::cupti::testing
