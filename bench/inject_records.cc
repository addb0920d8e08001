// SPDX-License-Identifier: Apache-2.0
// Measures what the native collector pays for one record of CUPTI, from the buffer CUPTI filled to the bytes of the
// stream. Buffers are filled as a training step of small kernels fills them: for each launch a runtime call, a driver
// call and a kernel (names of 60 to 400 characters, 200 different), every eighth launch a copy, a memset and a
// synchronisation.
//
//   inject_records               time and bytes per record; the argument is how many records a run has
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "inject/encoder.h"

namespace {

using gapless::internal::inject::Block;
using gapless::internal::inject::BlockSink;
using gapless::internal::inject::CuptiApi;
using gapless::internal::inject::Encoder;

constexpr size_t kBufferBytes = 256 * 1024;

size_t SizeOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel13);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy7);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset5);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization2);
    default: return sizeof(CUpti_ActivityAPI);
  }
}

CUptiResult NextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  uint8_t* const next = *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + SizeOf((*record)->kind);
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult CallbackName(CUpti_CallbackDomain, uint32_t, const char** name) {
  *name = "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}

class Buffers {
 public:
  explicit Buffers(size_t records) {
    for (int i = 0; i < 200; ++i)
      names_.push_back("_ZN2at6native" + std::to_string(i) + std::string(60 + static_cast<size_t>(i * 17 % 340), 'k'));
    for (uint32_t i = 0; made_ < records; ++i) AddLaunch(i);
  }
  void Encode(Encoder& encoder) {
    for (Buffer& buffer : buffers_) encoder.AddBuffer(buffer.bytes.get(), buffer.used);
  }
  size_t records() const { return made_; }

 private:
  struct Buffer {
    std::unique_ptr<uint8_t[]> bytes;
    size_t used = 0;
  };

  template <class Record>
  Record& New(CUpti_ActivityKind kind) {
    if (buffers_.empty() || buffers_.back().used + sizeof(Record) > kBufferBytes)
      buffers_.push_back({std::make_unique<uint8_t[]>(kBufferBytes)});
    auto* const record = reinterpret_cast<Record*>(buffers_.back().bytes.get() + buffers_.back().used);
    std::memset(static_cast<void*>(record), 0, sizeof *record);
    record->kind = kind;
    buffers_.back().used += sizeof(Record);
    ++made_;
    return *record;
  }
  void AddCall(CUpti_ActivityKind kind, uint64_t start, uint32_t correlation, uint32_t callback) {
    auto& call = New<CUpti_ActivityAPI>(kind);
    call.cbid = callback, call.start = start, call.end = start + 4'321, call.correlationId = correlation;
    call.threadId = static_cast<uint32_t>(getpid());
  }
  void AddLaunch(uint32_t i) {
    const uint64_t start = 1'700'000'000'000'000'000 + i * uint64_t{9'737};
    AddCall(CUPTI_ACTIVITY_KIND_DRIVER, start + 500, i, 307);
    AddCall(CUPTI_ACTIVITY_KIND_RUNTIME, start, i, 211);
    auto& kernel = New<CUpti_ActivityKernel13>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    kernel.start = start + 12'345, kernel.end = kernel.start + 5'000 + i % 977, kernel.contextId = 1,
    kernel.streamId = 7;
    kernel.gridX = static_cast<int32_t>(1 + i % 5000), kernel.gridY = 1, kernel.gridZ = 1, kernel.blockX = 256;
    kernel.blockY = 1, kernel.blockZ = 1, kernel.registersPerThread = 64, kernel.dynamicSharedMemory = 16'384;
    kernel.correlationId = i, kernel.name = names_[i * 31 % names_.size()].c_str();
    if (i % 8 != 0) return;
    auto& copy = New<CUpti_ActivityMemcpy7>(CUPTI_ACTIVITY_KIND_MEMCPY);
    copy.copyKind = 1, copy.bytes = 1 << 20, copy.start = start, copy.end = start + 9'999, copy.correlationId = i;
    auto& set = New<CUpti_ActivityMemset5>(CUPTI_ACTIVITY_KIND_MEMSET);
    set.bytes = 4096, set.start = start, set.end = start + 1'999, set.correlationId = i;
    auto& sync = New<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, sync.start = start, sync.end = start + 3'333;
  }

  std::vector<std::string> names_;
  std::vector<Buffer> buffers_;
  size_t made_ = 0;
};

class CountBytes : public BlockSink {
 public:
  void Write(const uint8_t* block, size_t bytes, uint32_t) override {
    benchmark::DoNotOptimize(block);
    total += bytes;
  }
  size_t total = 0;
};

void Encode(benchmark::State& state) {
  Buffers buffers(static_cast<size_t>(state.range(0)));
  CuptiApi api;
  api.cuptiActivityGetNextRecord = NextRecord;
  api.cuptiGetCallbackName = CallbackName;
  api.version = 130500;
  CountBytes sink;
  size_t records = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const auto block = std::make_unique<Block>(sink);
    const auto encoder = std::make_unique<Encoder>(api, *block);
    if (!encoder->Allocate()) return state.SkipWithError("no memory");
    state.ResumeTiming();
    buffers.Encode(*encoder);
    block->Close();
    records += encoder->records();
  }
  state.SetItemsProcessed(static_cast<int64_t>(records));
  state.counters["bytes_per_record"] = static_cast<double>(sink.total) / static_cast<double>(records);
  state.counters["ns_per_record"] =
      benchmark::Counter(static_cast<double>(records) / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(Encode)->Arg(10'000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
