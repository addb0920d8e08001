// SPDX-License-Identifier: Apache-2.0
// Implements the encoder: dispatches records by kind, and writes what all kinds share (texts, calls, threads, counts).
#include "inject/encoder.h"

#include <cxxabi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/layouts.h"
#include "inject/system_calls.h"

namespace gapless::internal::inject {

using wire::RecordType;

// Walks the records of a buffer by CUPTI's own function, which knows their sizes: they differ by version.
void Encoder::AddBuffer(uint8_t* buffer, size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (api_.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS && record != nullptr)
    Add(*record);
}

void Encoder::Add(const CUpti_Activity& record) {
  ++records_;
  const auto as = [&record]<class T>(T*) -> const T& { return reinterpret_cast<const T&>(record); };
#define GAPLESS_AS(form) as(static_cast<CUpti_Activity##form*>(nullptr))
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME: return AddCall(GAPLESS_AS(API), wire::ApiDomain::kRuntime);
    case CUPTI_ACTIVITY_KIND_DRIVER: return AddCall(GAPLESS_AS(API), wire::ApiDomain::kDriver);
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return AddKernel(GAPLESS_AS(Kernel5));
    case CUPTI_ACTIVITY_KIND_MEMCPY: return AddMemcpy(GAPLESS_AS(Memcpy4));
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return AddPeerCopy(GAPLESS_AS(MemcpyPtoP3));
    case CUPTI_ACTIVITY_KIND_MEMSET: return AddMemset(GAPLESS_AS(Memset3));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return AddSync(GAPLESS_AS(Synchronization));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return AddOverhead(GAPLESS_AS(Overhead2));
    case CUPTI_ACTIVITY_KIND_MARKER: return AddMarker(GAPLESS_AS(Marker2));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return AddGraphTrace(GAPLESS_AS(GraphTrace));
    case CUPTI_ACTIVITY_KIND_MEMORY2: return AddMemory(GAPLESS_AS(Memory2));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return AddMemoryPool(GAPLESS_AS(MemoryPool2));
    case CUPTI_ACTIVITY_KIND_DEVICE: return AddDevice(GAPLESS_AS(Device2));
    case CUPTI_ACTIVITY_KIND_CONTEXT: return AddContext(GAPLESS_AS(Context2));
    case CUPTI_ACTIVITY_KIND_STREAM: return AddStream(GAPLESS_AS(Stream));
    case CUPTI_ACTIVITY_KIND_NAME: return AddName(GAPLESS_AS(Name));
    default: ++unknown_; return;
  }
#undef GAPLESS_AS
}

void Encoder::AddInfo(const char* key, const char* value) {
  const uint32_t key_text = Text(key), value_text = Text(value);
  block_.Begin(RecordType::kInfo);
  block_.Put(key_text);
  block_.Put(value_text);
  block_.End();
}

void Encoder::AddMessage(unsigned severity, const char* text) {
  const uint32_t message = Text(text);
  block_.Begin(RecordType::kMessage);
  block_.Put(severity);
  block_.Put(message);
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddDropped(uint64_t count, wire::DropCause cause) {
  if (count == 0) return;
  block_.Begin(RecordType::kDropped);
  block_.Put(count);
  block_.Put(static_cast<uint64_t>(cause));
  block_.End();
  worth_writing_ = true;
}

void Encoder::AddFinish() {
  block_.Begin(RecordType::kFinish);
  block_.End();
}

void Encoder::AddCounts() {
  AddDropped(unknown_, wire::DropCause::kUnknown);
  unknown_ = 0;
}

// Returns the number of a text, and defines it in the stream if it is new. Must not be called within a record,
// because a definition is a record of its own.
uint32_t Encoder::Text(const char* text) {
  bool fresh = false;
  const uint32_t number = texts_.NumberOf(text, fresh);
  if (fresh) DefineText(number, text);
  return number;
}

uint32_t Encoder::KernelName(const char* mangled) {
  bool fresh = false;
  const uint32_t number = texts_.NumberOf(mangled, fresh);
  if (!fresh) return number;
  int status = -1;
  char* const readable = mangled[0] == '_' ? abi::__cxa_demangle(mangled, nullptr, nullptr, &status) : nullptr;
  DefineText(number, status == 0 && readable != nullptr ? readable : mangled);
  std::free(readable);
  return number;
}

void Encoder::DefineText(uint32_t number, const char* text) {
  const size_t size = std::strlen(text);
  block_.Begin(RecordType::kText, wire::kMaxTextBytes);
  block_.Put(number);
  if (size <= kMaxTextSize) {
    block_.PutBytes(text, size);
  } else {
    const CutMark mark(text, size);
    block_.PutBytes(text, kMaxTextSize - mark.size);
    block_.PutBytes(mark.bytes, mark.size);
  }
  block_.End();
}

// Returns the number of a call's name. CUPTI is asked once per call, and again after the table of texts was
// emptied.
uint32_t Encoder::CallName(wire::ApiDomain domain, CUpti_CallbackId id) {
  if (call_generation_ != texts_.generation()) {
    std::memset(call_names_, 0, sizeof call_names_);
    call_generation_ = texts_.generation();
  }
  uint32_t* const known = id < kCalls ? &call_names_[static_cast<size_t>(domain)][id] : nullptr;
  if (known != nullptr && *known != 0) return *known;
  const char* name = nullptr;
  char unnamed[32];
  const bool runtime = domain == wire::ApiDomain::kRuntime;
  if (api_.cuptiGetCallbackName == nullptr ||
      api_.cuptiGetCallbackName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, id, &name) !=
          CUPTI_SUCCESS ||
      name == nullptr) {
    (void)std::snprintf(unnamed, sizeof unnamed, "%s call %u", runtime ? "runtime" : "driver", id);
    name = unnamed;
  }
  const uint32_t number = Text(name);
  if (known != nullptr && call_generation_ == texts_.generation()) *known = number;
  return number;
}

// Describes a thread when it is first seen, and again when others took its place here.
void Encoder::MeetThread(uint32_t thread) {
  uint32_t& place = threads_[thread % kThreads];
  if (place == thread) return;
  place = thread;
  char path[64], name[64];
  (void)std::snprintf(path, sizeof path, "/proc/self/task/%u/comm", thread);
  if (!ReadLine(path, name, sizeof name)) return;
  const uint32_t text = Text(name);
  block_.Begin(RecordType::kThread);
  block_.Put(thread);
  block_.Put(text);
  block_.End();
}

}  // namespace gapless::internal::inject
