// SPDX-License-Identifier: Apache-2.0
// The layout of `cupti-<pid>.gcs`: what the injected collector saw of one process's CUDA work. The collector
// (inject/) writes it, the reader `cupti` (ingest/readers/cupti.cc) reads it; docs/formats/cupti.md describes it.
//
// A file is a FileHeader and then blocks, one after the other. A block is a BlockHeader and `payload_bytes` of records,
// filled with zeros to a multiple of 8. Everything is little-endian. A file may end anywhere (the process was killed):
// the whole blocks before are good, and each can be checked and decoded on its own, but for texts, which are defined in
// the block where they are first used or before.
//
// A record is  type (1 byte), length of the body (1 byte; 255: a u32 with the length follows), body.  The body is a
// sequence of varints (wire/varint.h) in the order given at the type. A reader skips types it does not know and ignores
// what follows the fields it knows; a writer only ever appends fields. `signed` fields are folded. Fields named `…_1`
// carry the value plus one, 0 for "not known". Texts are ids of kText records, 0 for none.
//
// Times are in ns on CUPTI's clock. Within a block, `start` is the signed difference to the start of the previous
// record of the same type (the first: to 0), and `correlation` likewise; both count modulo 2^64. The block header
// carries a reading of both clocks, by which the reader moves all times to unix time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/varint.h"

namespace gapless::internal::wire {

inline constexpr char kCuptiMagic[8] = {'G', 'A', 'P', 'L', 'C', 'U', 'P', 'T'};
inline constexpr uint32_t kCuptiVersion = 1;
inline constexpr uint32_t kBlockMagic = 0x4B4C4243;             // "CBLK"
inline constexpr uint32_t kMaxPayloadBytes = 16 * 1024 * 1024;  // a longer block is damage
inline constexpr size_t kMaxTextBytes = size_t{64} * 1024;      // a longer text is cut, and says so

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // where the first block begins
  int64_t start_unix_ns;
  int64_t pid;
  int64_t rank;        // -1: none
  int64_t world_size;  // -1: not known
  char host[64];       // ends with a zero
};
static_assert(sizeof(FileHeader) == 112);

struct BlockHeader {
  uint32_t magic;
  uint32_t payload_bytes;  // without the filling
  uint32_t record_count;
  uint32_t checksum;  // Checksum(filled payload)
  int64_t cupti_ns;   // both clocks read at the same moment; 0 and 0: could not be read
  int64_t unix_ns;
};
static_assert(sizeof(BlockHeader) == 32);

constexpr size_t Padded(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// The types, with their fields in order. Numbers are never used again for something else.
enum class RecordType : uint8_t {
  kText = 1,         // id, then the bytes of the text up to the end of the body
  kInfo = 2,         // text key, text value: something about the process or the recorder
  kMessage = 3,      // severity (trace's: 0 info, 1 loss, 2 error), text
  kDropped = 4,      // count, DropCause
  kFinish = 5,       // no field: the process ended in order
  kKernel = 6,       // signed start, duration_1, device, context, stream, signed correlation, text name, grid x y z,
                     // block x y z, registers, static shared bytes, dynamic shared bytes, local bytes per thread,
                     // graph id, graph node, launch type
  kMemcpy = 7,       // signed start, duration_1, device, context, stream, signed correlation, bytes, copy kind, source
                     // kind, destination kind, flags, graph id, graph node, source device_1, destination device_1
  kMemset = 8,       // signed start, duration_1, device, context, stream, signed correlation, bytes, value, memory
                     // kind, flags, graph id, graph node
  kApi = 9,          // signed start, duration_1, thread, signed correlation, text name, ApiDomain, return value
  kSync = 10,        // signed start, duration_1, type, context, stream_1, event_1, signed correlation
  kOverhead = 11,    // signed start, duration_1, kind, thread_1, signed correlation
  kMarker = 12,      // signed time, flags, id, thread_1, text name, text domain
  kGraphTrace = 13,  // signed start, duration_1, device, context, stream, signed correlation, graph id
  kMemory = 14,      // signed time, operation, kind, address, bytes, device, context, stream_1, signed correlation
  kMemoryPool = 15,  // signed time, operation, type, address, size, utilised_1, release threshold, device
  kDevice = 16,      // device, text name, uuid high and low 8 bytes, compute major, minor, multiprocessors, memory
                     // bytes, core clock kHz, most warps per multiprocessor, memory bandwidth in kB/s
  kContext = 17,     // context, device, null stream, parent context_1
  kStream = 18,      // context, stream, priority, flag
  kName = 19,        // object kind (CUPTI's), process, thread or device, context, stream: ids as far as the kind has
                     // them, text name
  kThread = 20,      // thread, text name
};
inline constexpr size_t kRecordTypes = 21;  // one more than the highest

enum class DropCause : uint8_t {
  kCupti = 1,    // CUPTI had no buffer to put them in
  kUnknown = 2,  // records of kinds that the collector does not know
  kFailed = 3,   // could not be written; in the first block of a file, whose count is overwritten in place
};
enum class ApiDomain : uint8_t { kRuntime = 0, kDriver = 1 };

// Fletcher's sum over the 32-bit words of the filled payload: position counts, and it costs a fraction of what encoding
// does. It detects torn blocks; it does not protect against malice.
inline uint32_t Checksum(const uint8_t* padded, size_t bytes) {
  uint64_t sum = 1, sums = 0;
  for (size_t at = 0; at + 4 <= bytes; at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, padded + at, sizeof word);
    sum += word;
    sums += sum;
  }
  return static_cast<uint32_t>(sum ^ (sum >> 32) ^ (sums * 0x9E3779B1U) ^ (sums >> 32));
}

}  // namespace gapless::internal::wire
