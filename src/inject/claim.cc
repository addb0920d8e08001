// SPDX-License-Identifier: Apache-2.0
// Claims CUPTI for the collector: one subscriber may own it, and what it is to record is switched on kind by kind.
//
// A kind that this GPU or version refuses is noted in the stream and left out; only if all are refused does the
// collector give up. On failure the subscription is given back, so that another tool can have it.
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/collector.h"

namespace gapless::internal::inject {
namespace {

struct Kind {
  CUpti_ActivityKind kind;
  const char* name;
};

// Kinds that describe objects come first: CUPTI reports devices and contexts when they are made.
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_DEVICE, "device"},
    {CUPTI_ACTIVITY_KIND_CONTEXT, "context"},
    {CUPTI_ACTIVITY_KIND_STREAM, "stream"},
    {CUPTI_ACTIVITY_KIND_NAME, "name"},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernel"},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "memcpy"},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "peer memcpy"},
    {CUPTI_ACTIVITY_KIND_MEMSET, "memset"},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "runtime"},
    {CUPTI_ACTIVITY_KIND_DRIVER, "driver"},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronization"},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead"},
    {CUPTI_ACTIVITY_KIND_MARKER, "marker"},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "memory"},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory pool"},
};

// Calls that put nothing on the GPU, take no time and come in great numbers.
constexpr CUpti_CallbackId kRuntimeTrifles[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000};
constexpr CUpti_CallbackId kDriverTrifles[] = {
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,     CUPTI_DRIVER_TRACE_CBID_cuCtxSetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,      CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress,    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2, CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGet,         CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion};

void OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;
  *buffer = nullptr, *size = 0;
  if (Collector* const collector = Installed()) collector->Request(buffer, size);
}

void OnComplete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid_bytes) {
  if (Collector* const collector = Installed()) collector->Complete({buffer, valid_bytes, context, stream});
}

void OnCallback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}  // subscribing needs one

}  // namespace

// Returns false with the reason in `why` if CUPTI does not work for us.
bool Collector::Claim(char* why, size_t why_size) {
  CUptiResult result = api_.cuptiSubscribe(&subscriber_, OnCallback, nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    (void)std::snprintf(why, why_size, "another profiler owns CUPTI: the native collector does not record");
    return false;
  }
  if (result != CUPTI_SUCCESS) {
    (void)std::snprintf(why, why_size, "CUPTI cannot be used: %s (%d)", ResultText(api_, result), result);
    return false;
  }
  result = api_.cuptiActivityRegisterCallbacks(OnRequest, OnComplete);
  if (result == CUPTI_SUCCESS && EnableKinds(why, why_size)) return true;
  if (result != CUPTI_SUCCESS)
    (void)std::snprintf(why, why_size, "CUPTI takes no buffers: %s (%d)", ResultText(api_, result), result);
  if (api_.cuptiUnsubscribe != nullptr) (void)api_.cuptiUnsubscribe(subscriber_);
  return false;
}

// Returns false with the reason in `why` if CUPTI refuses all kinds.
bool Collector::EnableKinds(char* why, size_t why_size) {
  if (api_.cuptiSetThreadIdType != nullptr) (void)api_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  char refused[256] = "";
  size_t enabled = 0;
  CUptiResult first = CUPTI_SUCCESS;
  const auto enable = [&](const Kind& kind) {
    const CUptiResult result = api_.cuptiActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS) return void(++enabled);
    if (first == CUPTI_SUCCESS) first = result;
    const size_t used = std::strlen(refused);
    (void)std::snprintf(refused + used, sizeof refused - used, "%s%s", used > 0 ? ", " : "", kind.name);
  };
  for (const Kind& kind : kKinds) enable(kind);
  // Whole graphs instead of the kernels in them: cheaper, and CUPTI reports one or the other.
  if (const char* const graphs = std::getenv("GAPLESS_CUPTI_GRAPHS");
      graphs != nullptr && std::strcmp(graphs, "1") == 0)
    enable({CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "graph"});
  if (enabled == 0) {
    (void)std::snprintf(why, why_size, "CUPTI records nothing here: %s (%d)", ResultText(api_, first), first);
    return false;
  }
  LeaveOutTrifles();
  if (refused[0] != '\0') encoder_.AddInfo("cupti_refused", refused);
  return true;
}

void Collector::DisableKinds() {
  if (api_.cuptiActivityDisable == nullptr) return;
  for (const Kind& kind : kKinds) (void)api_.cuptiActivityDisable(kind.kind);
  (void)api_.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

// Switches the recording of these calls off, where this version of CUPTI can.
void Collector::LeaveOutTrifles() {
  if (api_.cuptiActivityEnableRuntimeApi != nullptr)
    for (const CUpti_CallbackId id : kRuntimeTrifles) (void)api_.cuptiActivityEnableRuntimeApi(id, 0);
  if (api_.cuptiActivityEnableDriverApi != nullptr)
    for (const CUpti_CallbackId id : kDriverTrifles) (void)api_.cuptiActivityEnableDriverApi(id, 0);
}

}  // namespace gapless::internal::inject
