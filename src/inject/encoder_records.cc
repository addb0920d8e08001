// SPDX-License-Identifier: Apache-2.0
// Writes each kind of CUPTI's records; the order of the fields is that of wire/cupti_stream.h. Texts are defined
// before their record begins. A field that only newer versions of CUPTI have is read only if the library's version
// has it.
#include <initializer_list>

#include "inject/encoder.h"
#include "inject/layouts.h"

namespace gapless::internal::inject {

using wire::RecordType;

namespace {
constexpr uint32_t kNotThere = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
constexpr uint32_t kNoId = 0xFFFFFFFF;

// Returns the id of the object's thread; kNoId if the object has no thread.
uint32_t ThreadOf(CUpti_ActivityObjectKind kind, const CUpti_ActivityObjectKindId& id) {
  return kind == CUPTI_ACTIVITY_OBJECT_THREAD ? id.pt.threadId : kNoId;
}
}  // namespace

void Encoder::AddKernel(const CUpti_ActivityKernel5& record) {
  const uint32_t name = KernelName(record.name);
  block_.Begin(RecordType::kKernel);
  block_.PutTime(record.start, record.end);
  block_.Put(record.deviceId);
  block_.Put(record.contextId);
  block_.Put(record.streamId);
  block_.PutCorrelation(record.correlationId);
  block_.Put(name);
  for (const int32_t size : {record.gridX, record.gridY, record.gridZ, record.blockX, record.blockY, record.blockZ})
    block_.Put(static_cast<uint32_t>(size));
  block_.Put(record.registersPerThread);
  block_.Put(static_cast<uint32_t>(record.staticSharedMemory));
  block_.Put(static_cast<uint32_t>(record.dynamicSharedMemory));
  block_.Put(record.localMemoryPerThread);
  block_.Put(record.graphId);
  block_.Put(record.graphNodeId);
  block_.Put(record.launchType);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddMemcpy(const CUpti_ActivityMemcpy4& record) {
  block_.Begin(RecordType::kMemcpy);
  block_.PutTime(record.start, record.end);
  block_.Put(record.deviceId);
  block_.Put(record.contextId);
  block_.Put(record.streamId);
  block_.PutCorrelation(record.correlationId);
  block_.Put(record.bytes);
  block_.Put(record.copyKind);
  block_.Put(record.srcKind);
  block_.Put(record.dstKind);
  block_.Put(record.flags);
  block_.Put(record.graphId);
  block_.Put(record.graphNodeId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddPeerCopy(const CUpti_ActivityMemcpyPtoP3& record) {
  block_.Begin(RecordType::kMemcpy);
  block_.PutTime(record.start, record.end);
  block_.Put(record.deviceId);
  block_.Put(record.contextId);
  block_.Put(record.streamId);
  block_.PutCorrelation(record.correlationId);
  block_.Put(record.bytes);
  block_.Put(record.copyKind);
  block_.Put(record.srcKind);
  block_.Put(record.dstKind);
  block_.Put(record.flags);
  block_.Put(record.graphId);
  block_.Put(record.graphNodeId);
  block_.PutOrNone(record.srcDeviceId, kNoId);
  block_.PutOrNone(record.dstDeviceId, kNoId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddMemset(const CUpti_ActivityMemset3& record) {
  block_.Begin(RecordType::kMemset);
  block_.PutTime(record.start, record.end);
  block_.Put(record.deviceId);
  block_.Put(record.contextId);
  block_.Put(record.streamId);
  block_.PutCorrelation(record.correlationId);
  block_.Put(record.bytes);
  block_.Put(record.value);
  block_.Put(record.memoryKind);
  block_.Put(record.flags);
  block_.Put(record.graphId);
  block_.Put(record.graphNodeId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddCall(const CUpti_ActivityAPI& record, wire::ApiDomain domain) {
  const uint32_t name = CallName(domain, record.cbid);
  MeetThread(record.threadId);
  block_.Begin(RecordType::kApi);
  block_.PutTime(record.start, record.end);
  block_.Put(record.threadId);
  block_.PutCorrelation(record.correlationId);
  block_.Put(name);
  block_.Put(static_cast<uint64_t>(domain));
  block_.Put(record.returnValue);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddSync(const CUpti_ActivitySynchronization& record) {
  block_.Begin(RecordType::kSync);
  block_.PutTime(record.start, record.end);
  block_.Put(static_cast<uint32_t>(record.type));
  block_.Put(record.contextId);
  block_.PutOrNone(record.streamId, kNotThere);
  block_.PutOrNone(record.cudaEventId, kNotThere);
  block_.PutCorrelation(record.correlationId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddOverhead(const CUpti_ActivityOverhead2& record) {
  const bool has_correlation = api_.version >= kSinceOverheadCorrelation;
  block_.Begin(RecordType::kOverhead);
  block_.PutTime(record.start, record.end);
  block_.Put(static_cast<uint32_t>(record.overheadKind));
  block_.PutOrNone(ThreadOf(record.objectKind, record.objectId), kNoId);
  block_.PutCorrelation(has_correlation ? record.correlationId : 0);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddMarker(const CUpti_ActivityMarker2& record) {
  const uint32_t name = Text(record.name), domain = Text(record.domain);
  block_.Begin(RecordType::kMarker);
  block_.PutStart(record.timestamp);
  block_.Put(static_cast<uint32_t>(record.flags));
  block_.Put(record.id);
  block_.PutOrNone(ThreadOf(record.objectKind, record.objectId), kNoId);
  block_.Put(name);
  block_.Put(domain);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddGraphTrace(const CUpti_ActivityGraphTrace& record) {
  block_.Begin(RecordType::kGraphTrace);
  block_.PutTime(record.start, record.end);
  block_.Put(record.deviceId);
  block_.Put(record.contextId);
  block_.Put(record.streamId);
  block_.PutCorrelation(record.correlationId);
  block_.Put(record.graphId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddMemory(const CUpti_ActivityMemory2& record) {
  block_.Begin(RecordType::kMemory);
  block_.PutStart(record.timestamp);
  block_.Put(static_cast<uint32_t>(record.memoryOperationType));
  block_.Put(static_cast<uint32_t>(record.memoryKind));
  block_.Put(record.address);
  block_.Put(record.bytes);
  block_.Put(record.deviceId);
  block_.Put(record.contextId);
  block_.PutOrNone(record.streamId, kNoId);
  block_.PutCorrelation(record.correlationId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddMemoryPool(const CUpti_ActivityMemoryPool2& record) {
  block_.Begin(RecordType::kMemoryPool);
  block_.PutStart(record.timestamp);
  block_.Put(static_cast<uint32_t>(record.memoryPoolOperationType));
  block_.Put(static_cast<uint32_t>(record.memoryPoolType));
  block_.Put(record.address);
  block_.Put(record.size);
  block_.Put(record.utilizedSize + 1);
  block_.Put(record.releaseThreshold);
  block_.Put(record.deviceId);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddDevice(const CUpti_ActivityDevice2& record) {
  uint64_t uuid[2] = {};
  for (size_t i = 0; i < sizeof uuid; ++i) uuid[i / 8] = uuid[i / 8] << 8 | static_cast<uint8_t>(record.uuid.bytes[i]);
  const uint32_t name = Text(record.name);
  block_.Begin(RecordType::kDevice);
  block_.Put(record.id);
  block_.Put(name);
  block_.Put(uuid[0]);
  block_.Put(uuid[1]);
  block_.Put(record.computeCapabilityMajor);
  block_.Put(record.computeCapabilityMinor);
  block_.Put(record.numMultiprocessors);
  block_.Put(record.globalMemorySize);
  block_.Put(record.coreClockRate);
  block_.Put(record.maxWarpsPerMultiprocessor);
  block_.Put(record.globalMemoryBandwidth);
  block_.End();
}

void Encoder::AddContext(const CUpti_ActivityContext2& record) {
  const bool has_parent = api_.version >= kSinceContextParent;
  block_.Begin(RecordType::kContext);
  block_.Put(record.contextId);
  block_.Put(record.deviceId);
  block_.Put(record.nullStreamId);
  block_.PutOrNone(has_parent ? record.parentContextId : kNoId, kNoId);
  block_.End();
}

void Encoder::AddStream(const CUpti_ActivityStream& record) {
  block_.Begin(RecordType::kStream);
  block_.Put(record.contextId);
  block_.Put(record.streamId);
  block_.Put(record.priority);
  block_.Put(static_cast<uint32_t>(record.flag));
  block_.End();
}

void Encoder::AddName(const CUpti_ActivityName& record) {
  const uint32_t name = Text(record.name);
  const bool of_process =
      record.objectKind == CUPTI_ACTIVITY_OBJECT_PROCESS || record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
  block_.Begin(RecordType::kName);
  block_.Put(static_cast<uint32_t>(record.objectKind));
  block_.Put(of_process ? record.objectId.pt.processId : record.objectId.dcs.deviceId);
  block_.Put(of_process ? record.objectId.pt.threadId : record.objectId.dcs.contextId);
  block_.Put(of_process ? 0 : record.objectId.dcs.streamId);
  block_.Put(name);
  block_.End();
}

}  // namespace gapless::internal::inject
