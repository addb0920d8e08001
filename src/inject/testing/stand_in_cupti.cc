// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcupti, for tests on machines without a GPU: the functions that the collector looks up, with records
// in the true structs of CUPTI 12 or 13 (it is built once with the headers of each). stand_in_play() makes the records
// of a scenario, in buffers asked for and given back as CUPTI does.
//
// GAPLESS_STAND_IN: `taken` (another subscriber is there), `unknown` (every call fails with 999), `uninitialised`
// (enabling fails with 15), `no_clock` (no timestamps), `hoard` (full buffers are kept until the end, so that none are
// left).
#ifdef GAPLESS_STAND_IN_12
#include <cupti12/include/cupti_activity.h>
#include <cupti12/include/cupti_version.h>
#define GAPLESS_EXTRA_12_13(in_12, in_13) in_12
#else
#include <cupti_activity.h>
#include <cupti_version.h>
#define GAPLESS_EXTRA_12_13(in_12, in_13) in_13
#endif

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "inject/testing/scenario.h"

namespace {

using gapless::internal::inject::testing::kMangled;
using gapless::internal::inject::testing::Scenario;

using Kernel = GAPLESS_EXTRA_12_13(CUpti_ActivityKernel9, CUpti_ActivityKernel13);
using Memcpy = GAPLESS_EXTRA_12_13(CUpti_ActivityMemcpy6, CUpti_ActivityMemcpy7);
using Memset = GAPLESS_EXTRA_12_13(CUpti_ActivityMemset4, CUpti_ActivityMemset5);
using Device = GAPLESS_EXTRA_12_13(CUpti_ActivityDevice5, CUpti_ActivityDevice6);
using Context = GAPLESS_EXTRA_12_13(CUpti_ActivityContext3, CUpti_ActivityContext4);
using Pool = GAPLESS_EXTRA_12_13(CUpti_ActivityMemoryPool2, CUpti_ActivityMemoryPool3);

CUpti_BuffersCallbackRequestFunc g_request = nullptr;
CUpti_BuffersCallbackCompleteFunc g_complete = nullptr;
uint8_t* g_buffer = nullptr;
size_t g_size = 0, g_used = 0;
// The collector asks for these on its own thread.
std::atomic<size_t> g_dropped{0};
std::atomic<bool> g_enabled[64] = {};

bool Mode(const char* mode) {
  const char* const wanted = std::getenv("GAPLESS_STAND_IN");
  return wanted != nullptr && std::strcmp(wanted, mode) == 0;
}
#define GAPLESS_FAIL_IF_UNKNOWN \
  if (Mode("unknown")) return CUPTI_ERROR_UNKNOWN

struct Hoarded {
  uint8_t* bytes;
  size_t size, used;
};
Hoarded g_hoard[512];
size_t g_hoarded = 0;

void GiveBack() {
  if (g_buffer == nullptr) return;
  if (Mode("hoard"))
    g_hoard[g_hoarded++] = {g_buffer, g_size, g_used};
  else
    g_complete(nullptr, 0, g_buffer, g_size, g_used);
  g_buffer = nullptr;
}

void GiveBackHoard() {
  for (size_t i = 0; i < g_hoarded; ++i) g_complete(nullptr, 0, g_hoard[i].bytes, g_hoard[i].size, g_hoard[i].used);
  g_hoarded = 0;
}

// A record of the kind, zeroed, in the current buffer; null when the kind is off or there is no buffer.
template <class Record>
Record* New(CUpti_ActivityKind kind) {
  if (!g_enabled[kind]) return nullptr;
  if (g_buffer != nullptr && g_used + sizeof(Record) > g_size) GiveBack();
  if (g_buffer == nullptr && g_request != nullptr) {
    size_t most = 0;
    g_request(&g_buffer, &g_size, &most);
    g_used = 0;
  }
  if (g_buffer == nullptr) return ++g_dropped, nullptr;
  auto* const record = reinterpret_cast<Record*>(g_buffer + g_used);
  std::memset(static_cast<void*>(record), 0, sizeof *record);
  record->kind = kind;
  g_used += sizeof(Record);
  return record;
}

size_t SizeOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(Kernel);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(Memcpy);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(Memset);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return sizeof(CUpti_ActivityOverhead3);
    case CUPTI_ACTIVITY_KIND_MARKER: return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return sizeof(Pool);
    case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(Device);
    case CUPTI_ACTIVITY_KIND_CONTEXT: return sizeof(Context);
    case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_NAME: return sizeof(CUpti_ActivityName);
    default: return 0;
  }
}

void PlayDevice() {
  if (auto* const device = New<Device>(CUPTI_ACTIVITY_KIND_DEVICE)) {
    device->id = 0, device->name = "Stand-in GPU", device->numMultiprocessors = 108;
    device->computeCapabilityMajor = 8, device->computeCapabilityMinor = 6;
    device->globalMemorySize = 40'000'000'000U, device->coreClockRate = 1'410'000;
    device->maxWarpsPerMultiprocessor = 64;
    for (int i = 0; i < 16; ++i) device->uuid.bytes[i] = static_cast<char>(0xA0 + i);
  }
  if (auto* const context = New<Context>(CUPTI_ACTIVITY_KIND_CONTEXT))
    context->contextId = 1, context->deviceId = 0, context->nullStreamId = 7;
  if (auto* const stream = New<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM))
    stream->contextId = 1, stream->streamId = 13, stream->priority = 0;
}

void PlayCall(CUpti_ActivityKind kind, uint32_t callback, uint64_t start, uint64_t end, uint32_t correlation,
              uint32_t thread) {
  auto* const call = New<CUpti_ActivityAPI>(kind);
  if (call == nullptr) return;
  call->cbid = callback, call->start = start, call->end = end;
  call->processId = static_cast<uint32_t>(getpid()), call->threadId = thread, call->correlationId = correlation;
}

void PlayMarker(uint32_t id, uint64_t timestamp, CUpti_ActivityFlag flag, const char* name, uint32_t thread) {
  auto* const marker = New<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  if (marker == nullptr) return;
  marker->flags = flag, marker->timestamp = timestamp, marker->id = id, marker->name = name;
  marker->objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker->objectId.pt.processId = static_cast<uint32_t>(getpid()), marker->objectId.pt.threadId = thread;
}

// Records graphs as wholes, in place of their kernels, where that is enabled.
bool PlayGraph(const Scenario& scenario, uint32_t i) {
  if (i % 5 != 0 || !g_enabled[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) return false;
  if (auto* const graph = New<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    graph->start = scenario.KernelStart(i), graph->end = graph->start + Scenario::kKernelNs, graph->graphId = 9;
    graph->contextId = 1, graph->streamId = Scenario::Stream(i), graph->correlationId = Scenario::Correlation(i);
  }
  return true;
}

void PlayKernel(const Scenario& scenario, uint32_t i) {
  if (PlayGraph(scenario, i)) return;
  auto* const kernel = New<Kernel>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (kernel == nullptr) return;
  kernel->registersPerThread = static_cast<uint16_t>(32 + i % 8);
  kernel->start = scenario.KernelStart(i), kernel->end = kernel->start + Scenario::kKernelNs;
  kernel->deviceId = 0, kernel->contextId = 1, kernel->streamId = Scenario::Stream(i);
  kernel->gridX = static_cast<int32_t>(Scenario::Grid(i)), kernel->gridY = 2, kernel->gridZ = 1;
  kernel->blockX = 256, kernel->blockY = 1, kernel->blockZ = 1;
  kernel->staticSharedMemory = 1024, kernel->dynamicSharedMemory = static_cast<int32_t>(i % 2 == 0 ? 0 : 48 * 1024);
  kernel->correlationId = Scenario::Correlation(i), kernel->gridId = i, kernel->name = kMangled[i % Scenario::kNames];
  kernel->graphId = i % 5 == 0 ? 9 : 0, kernel->graphNodeId = i % 5 == 0 ? (uint64_t{9} << 32 | i) : 0;
}

void PlayCopies(const Scenario& scenario, uint32_t i) {
  const uint64_t start = scenario.KernelStart(i) + Scenario::kKernelNs;
  if (auto* const copy = New<Memcpy>(CUPTI_ACTIVITY_KIND_MEMCPY)) {
    copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, copy->srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    copy->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, copy->bytes = Scenario::CopyBytes(i);
    copy->start = start, copy->end = start + Scenario::kCopyNs, copy->contextId = 1, copy->streamId = 7;
    copy->correlationId = Scenario::Correlation(i) + 1;
  }
  if (auto* const set = New<Memset>(CUPTI_ACTIVITY_KIND_MEMSET)) {
    set->value = 0, set->bytes = 512, set->start = start + 10'000, set->end = set->start + Scenario::kMemsetNs;
    set->contextId = 1, set->streamId = 7, set->correlationId = Scenario::Correlation(i) + 2;
    set->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  }
  if (auto* const peer = New<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2)) {
    peer->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, peer->srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    peer->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, peer->bytes = 1 << 20, peer->contextId = 1, peer->streamId = 13;
    peer->start = start + 14'000, peer->end = peer->start + Scenario::kCopyNs, peer->srcDeviceId = 0;
    peer->dstDeviceId = 1, peer->correlationId = Scenario::Correlation(i) + 3;
  }
}

void PlayRest(const Scenario& scenario, uint32_t i) {
  if (auto* const sync = New<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) {
    sync->type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, sync->start = scenario.CallStart(i) + 90'000;
    sync->end = sync->start + Scenario::kSyncNs, sync->contextId = 1, sync->streamId = 7;
    sync->cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE, sync->correlationId = Scenario::Correlation(i) + 1'000'000;
  }
  if (auto* const overhead = New<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD)) {
    overhead->overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
    overhead->objectKind = CUPTI_ACTIVITY_OBJECT_THREAD, overhead->objectId.pt.threadId = scenario.thread;
    overhead->start = scenario.CallStart(i) + 96'000, overhead->end = overhead->start + 1'000;
  }
  if (auto* const memory = New<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2)) {
    memory->memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    memory->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, memory->address = 0x7F0000000000 + uint64_t{i} * 4096;
    memory->bytes = 4096, memory->timestamp = scenario.CallStart(i) + 97'000, memory->contextId = 1;
  }
  if (auto* const pool = New<Pool>(CUPTI_ACTIVITY_KIND_MEMORY_POOL)) {
    pool->memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, pool->size = 1 << 21;
    pool->timestamp = scenario.CallStart(i) + 98'000, pool->utilizedSize = i, pool->releaseThreshold = UINT64_MAX;
  }
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OF_SOME_KIND";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
  GAPLESS_FAIL_IF_UNKNOWN;
  return Mode("taken") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  g_request = request, g_complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (Mode("uninitialised")) return CUPTI_ERROR_NOT_INITIALIZED;
  return g_enabled[kind] = true, CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) { return g_enabled[kind] = false, CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  // As CUPTI does, a plain flush leaves the buffer in use alone unless all in it is complete, which it is only between
  // two plays; the program and the collector's thread do not meet here because the program waits (plain_program.cc).
  if (flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) GiveBack(), GiveBackHoard();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = g_dropped.exchange(0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  uint8_t* const next = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + SizeOf((*record)->kind);
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (Mode("no_clock")) return CUPTI_ERROR_NOT_INITIALIZED;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *timestamp = static_cast<uint64_t>(now.tv_sec * 1'000'000'000LL + now.tv_nsec - Scenario::kClockBehindNs);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t callback, const char** name) {
  if (callback > 2) return CUPTI_ERROR_INVALID_PARAMETER;
  constexpr const char* kRuntime[] = {"INVALID", "cudaLaunchKernel_v7000", "cudaStreamSynchronize_ptsz_v7000"};
  constexpr const char* kDriver[] = {"INVALID", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2"};
  *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? kRuntime[callback] : kDriver[callback];
  return CUPTI_SUCCESS;
}

int InitializeInjectionNvtx2(void* get_export_table) { return get_export_table != nullptr ? 5 : 0; }

// Makes the records of the scenario. The last buffer stays in use until it is flushed.
// NOLINTNEXTLINE(readability-identifier-naming): named as the functions of CUPTI are
__attribute__((visibility("default"))) void stand_in_play(const Scenario* scenario) {
  if (scenario->first == 0) PlayDevice();
  for (uint32_t i = scenario->first; i < scenario->first + scenario->launches; ++i) {
    const uint64_t start = scenario->CallStart(i);
    const uint32_t correlation = Scenario::Correlation(i);
    if (Scenario::IsTenth(i))
      PlayMarker(i + 1, start, CUPTI_ACTIVITY_FLAG_MARKER_START, "step_range", scenario->thread);
    PlayCall(CUPTI_ACTIVITY_KIND_DRIVER, 1, start + 1'000, start + 6'000, correlation, scenario->thread);
    PlayCall(CUPTI_ACTIVITY_KIND_RUNTIME, 1, start, start + Scenario::kCallNs, correlation, scenario->thread);
    PlayKernel(*scenario, i);
    if (!Scenario::IsTenth(i)) continue;
    PlayCopies(*scenario, i);
    PlayCall(CUPTI_ACTIVITY_KIND_RUNTIME, 2, start + 90'000, start + 95'000, correlation + 1'000'000, scenario->thread);
    PlayRest(*scenario, i);
    PlayMarker(i + 1, start + 99'000, CUPTI_ACTIVITY_FLAG_MARKER_END, nullptr, scenario->thread);
  }
}
// NOLINTNEXTLINE(readability-identifier-naming)
__attribute__((visibility("default"))) void stand_in_give_back() { GiveBack(); }

}  // extern "C"
