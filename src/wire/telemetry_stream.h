// SPDX-License-Identifier: Apache-2.0
// Layout of telemetry.gts: values over time, sampled on one host. Written by collect/telemetry, read by
// ingest/readers/telemetry.cc.
//
//   FileHeader, then records until the end of the file. A record is a RecordHeader and its body; `bytes` counts both
//   and is a multiple of 8, so every record starts at a multiple of 8. Little-endian throughout.
//     kText     TextBody, key, value                 one fact about the host: "host", "cpu.model", "gpu.0.uuid"
//     kSeries   SeriesBody, name, unit               what a series number means; stands before its first sample
//     kSamples  SamplesBody, double[count], uint32_t[count]    the values of one moment, and of which series each is
//     kEnd      nothing                              the sampler stopped in order
//   Texts are UTF-8 without a zero; bytes up to the multiple of 8 are zero.
//
// The file may end anywhere: all whole records before that are good. A reader skips records of kinds it does not know
// and stops where a length cannot be. What was not measured has no sample; there is no value that means "none". A new
// kind does not change the version; another meaning of what is here does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gapless::internal::telemetry {

inline constexpr char kMagic[8] = {'G', 'A', 'P', 'L', 'T', 'E', 'L', '\n'};
inline constexpr uint32_t kVersion = 1;
inline constexpr int32_t kNoDevice = -1;                  // the series is about the host, not one GPU
inline constexpr uint32_t kMaxRecordBytes = 1024 * 1024;  // a longer one is damage
inline constexpr uint32_t kMaxSeries = 1024 * 1024;       // numbers are given from 0 on

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;  // size of this struct; records start there
  int64_t start_unix_ns;
  int64_t interval_ns;  // between two ticks of the sampler, as asked for
};

enum class RecordKind : uint16_t { kText = 1, kSeries = 2, kSamples = 3, kEnd = 4 };

struct RecordHeader {
  uint32_t bytes;
  uint16_t kind;
  uint16_t count;  // kSamples: values; otherwise 0
};

struct TextBody {
  uint32_t key_bytes;
  uint32_t value_bytes;
};

struct SeriesBody {
  uint32_t series;
  int32_t device;  // NVML's number of the GPU, or kNoDevice
  uint32_t name_bytes;
  uint32_t unit_bytes;
};

struct SamplesBody {
  int64_t unix_ns;
};

static_assert(sizeof(FileHeader) == 32 && sizeof(RecordHeader) == 8 && sizeof(TextBody) == 8 &&
              sizeof(SeriesBody) == 16 && sizeof(SamplesBody) == 8);

constexpr size_t PaddedTo8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

}  // namespace gapless::internal::telemetry
