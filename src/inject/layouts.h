// SPDX-License-Identifier: Apache-2.0
// Places at which CUPTI puts the fields that the collector reads, in every version of CUPTI 12 and 13.
//
// CUPTI fills records of the newest form it knows: CUpti_ActivityKernel9 in 12.0 to 12.9, Kernel10 in 13.0 up to
// Kernel13 in 13.5, and likewise for copies, memsets and the rest. NVIDIA only ever appends fields, and those we need
// are old: of all fields below but the ones with a `kSince…`, form and place are the same from 12.0 to 13.5. So one set
// of structs (the oldest form that has them all) reads every version, and what differs is whether a field is there at
// all.
//
// | API version | CUDA        | kernel | memcpy | p2p | memset | device | context | sync | overhead | pool |
// | 18          | 12.0, 12.1  | 9      | 5      | 4   | 4      | 4      | 1       | 1    | 1        | 2    |
// | 20          | 12.2        | 9      | 5      | 4   | 4      | 5      | 1       | 1    | 1        | 2    |
// | 21          | 12.3        | 9      | 5      | 4   | 4      | 5      | 1       | 1    | 2        | 2    |
// | 22          | 12.4        | 9      | 5      | 4   | 4      | 5      | 2       | 1    | 3        | 2    |
// | 23, 24      | 12.5, 12.6  | 9      | 5      | 4   | 4      | 5      | 3       | 1    | 3        | 2    |
// | 26 to 28    | 12.8, 12.9  | 9      | 6      | 4   | 4      | 5      | 3       | 2    | 3        | 2    |
// | 130000      | 13.0        | 10     | 6      | 4   | 4      | 5      | 3       | 2    | 3        | 3    |
// | 130100      | 13.1        | 11     | 6      | 4   | 4      | 5      | 4       | 2    | 3        | 3    |
// | 130200      | 13.2        | 11     | 6      | 4   | 4      | 6      | 4       | 2    | 3        | 3    |
// | 130300      | 13.3        | 12     | 6      | 4   | 4      | 6      | 4       | 2    | 3        | 3    |
// | 130400      | 13.4, 13.5  | 13     | 7      | 4   | 5      | 6      | 4       | 2    | 3        | 3    |
//
// The table was taken from the headers of every version. The libraries of 12.0 to 13.1, which can be asked without a
// driver, walk a buffer in steps of just these forms' sizes; encoder_test.cc asks that of 12.9. The cuptiGetVersion of
// an update may be higher by one or two (130202).
//
// layouts_cupti12.cc and layouts_cupti13.cc hold the headers of 12.9 and 13.5, with all forms they name, to the
// offsets.
#pragma once

#include <cstdint>

namespace gapless::internal::inject {

inline constexpr uint32_t kOldestVersion = 18;
inline constexpr uint32_t kFirstOf13 = 130000, kFirstOf14 = 140000;
inline constexpr uint32_t kSinceOverheadCorrelation = 21, kSinceContextParent = 22;

constexpr bool IsKnownVersion(uint32_t version) {
  return (version >= kOldestVersion && version < 100) || (version >= kFirstOf13 && version < kFirstOf14);
}

// clang-format off
#define GAPLESS_KERNEL_FIELDS(F) F(registersPerThread, 6) F(start, 16) F(end, 24) F(deviceId, 40) F(contextId, 44) \
  F(streamId, 48) F(gridX, 52) F(gridY, 56) F(gridZ, 60) F(blockX, 64) F(blockY, 68) F(blockZ, 72) \
  F(staticSharedMemory, 76) F(dynamicSharedMemory, 80) F(localMemoryPerThread, 84) F(correlationId, 92) F(name, 104) \
  F(launchType, 136) F(graphNodeId, 144) F(graphId, 156)
#define GAPLESS_MEMCPY_FIELDS(F) F(copyKind, 4) F(srcKind, 5) F(dstKind, 6) F(flags, 7) F(bytes, 8) F(start, 16) \
  F(end, 24) F(deviceId, 32) F(contextId, 36) F(streamId, 40) F(correlationId, 44) F(graphNodeId, 64) F(graphId, 72)
#define GAPLESS_PEER_COPY_FIELDS(F) F(copyKind, 4) F(srcKind, 5) F(dstKind, 6) F(flags, 7) F(bytes, 8) F(start, 16) \
  F(end, 24) F(deviceId, 32) F(contextId, 36) F(streamId, 40) F(srcDeviceId, 44) F(dstDeviceId, 52) F(correlationId, 60) \
  F(graphNodeId, 72) F(graphId, 80)
#define GAPLESS_MEMSET_FIELDS(F) F(value, 4) F(bytes, 8) F(start, 16) F(end, 24) F(deviceId, 32) F(contextId, 36) \
  F(streamId, 40) F(correlationId, 44) F(flags, 48) F(memoryKind, 50) F(graphNodeId, 64) F(graphId, 72)
#define GAPLESS_API_FIELDS(F) F(cbid, 4) F(start, 8) F(end, 16) F(processId, 24) F(threadId, 28) F(correlationId, 32) \
  F(returnValue, 36)
#define GAPLESS_SYNC_FIELDS(F) F(type, 4) F(start, 8) F(end, 16) F(correlationId, 24) F(contextId, 28) F(streamId, 32) \
  F(cudaEventId, 36)
#define GAPLESS_OVERHEAD_FIELDS(F) F(overheadKind, 4) F(objectKind, 8) F(objectId, 12) F(start, 24) F(end, 32)
#define GAPLESS_OVERHEAD2_FIELDS(F) GAPLESS_OVERHEAD_FIELDS(F) F(correlationId, 40)
#define GAPLESS_MARKER_FIELDS(F) F(flags, 4) F(timestamp, 8) F(id, 16) F(objectKind, 20) F(objectId, 24) F(name, 40) \
  F(domain, 48)
#define GAPLESS_GRAPH_TRACE_FIELDS(F) F(correlationId, 4) F(start, 8) F(end, 16) F(deviceId, 24) F(graphId, 28) \
  F(contextId, 32) F(streamId, 36)
#define GAPLESS_MEMORY_FIELDS(F) F(memoryOperationType, 4) F(memoryKind, 8) F(correlationId, 12) F(address, 16) \
  F(bytes, 24) F(timestamp, 32) F(deviceId, 52) F(contextId, 56) F(streamId, 60)
#define GAPLESS_MEMORY_POOL_FIELDS(F) F(memoryPoolOperationType, 4) F(memoryPoolType, 8) F(deviceId, 20) F(address, 32) \
  F(size, 40) F(releaseThreshold, 48) F(timestamp, 56) F(utilizedSize, 64)
#define GAPLESS_DEVICE_FIELDS(F) F(globalMemoryBandwidth, 8) F(globalMemorySize, 16) F(coreClockRate, 36) \
  F(numMultiprocessors, 44) F(maxWarpsPerMultiprocessor, 52) F(computeCapabilityMajor, 104) \
  F(computeCapabilityMinor, 108) F(id, 112) F(uuid, 120) F(name, 136)
#define GAPLESS_CONTEXT_FIELDS(F) F(contextId, 4) F(deviceId, 8) F(nullStreamId, 14)
#define GAPLESS_CONTEXT2_FIELDS(F) GAPLESS_CONTEXT_FIELDS(F) F(parentContextId, 16)
#define GAPLESS_STREAM_FIELDS(F) F(contextId, 4) F(streamId, 8) F(priority, 12) F(flag, 16)
#define GAPLESS_NAME_FIELDS(F) F(objectKind, 4) F(objectId, 8) F(name, 24)
// clang-format on

// Holds one form of a record to the offsets; for use at namespace scope, `tag` names the place.
#define GAPLESS_FIELD_IS_AT(field, offset) static_assert(offsetof(Form, field) == (offset));
#define GAPLESS_HOLD(tag, form, fields) \
  namespace hold_##tag##_##form {       \
    using Form = CUpti_Activity##form;  \
    fields(GAPLESS_FIELD_IS_AT)         \
  }

}  // namespace gapless::internal::inject
