// SPDX-License-Identifier: Apache-2.0
// CUPTI's records in, records of the stream out (wire/cupti_stream.h).
//
// A training step of a large model is some ten thousand records, and CUPTI's kernel record alone has 208 to 248
// bytes. Copying them out as they are would cost us the least and the disk the most; a general compressor costs
// ten times the budget. Most fields repeat or grow by little from record to record, so each is written as a
// varint, times and correlations as differences: about 30 bytes a kernel, 12 a call, at some tens of ns each
// (bench/inject_records.cc). A length before each record lets older readers skip what they do not know.
//
// Names are up to kilobytes each, so they are written once and numbered (text_table.h). Kernel names are demangled
// here, once each and away from the program's threads, so that no reader has to demangle the names of a file it
// cannot trust.
#pragma once

#include "inject/block.h"
#include "inject/cupti_api.h"
#include "inject/text_table.h"

namespace gapless::internal::inject {

// An Encoder is not thread-safe. Its records stay in the block until that is full or closed.
class Encoder {
 public:
  // `api` has the names of calls and the fields of records.
  Encoder(const CuptiApi& api, Block& block) : api_(api), block_(block) {}

  bool Allocate() { return texts_.Allocate(); }

  // Adds every record of one of CUPTI's buffers; records of unknown kinds are counted.
  void AddBuffer(uint8_t* buffer, size_t valid_bytes);
  void Add(const CUpti_Activity& record);

  void AddInfo(const char* key, const char* value);
  void AddMessage(unsigned severity, const char* text);
  void AddDropped(uint64_t count, wire::DropCause cause);
  void AddFinish();

  // Adds what was counted since the last time. To be called before a block is closed.
  void AddCounts();

  // Returns true if anything was added that is worth a file; descriptions of devices, threads and the process are
  // not.
  bool worth_writing() const { return worth_writing_; }
  uint64_t records() const { return records_; }

 private:
  static constexpr size_t kCalls = 2048;   // callback ids of one domain; there are about 800
  static constexpr size_t kThreads = 256;  // remembered

  void AddKernel(const CUpti_ActivityKernel5& record);
  void AddMemcpy(const CUpti_ActivityMemcpy4& record);
  void AddPeerCopy(const CUpti_ActivityMemcpyPtoP3& record);
  void AddMemset(const CUpti_ActivityMemset3& record);
  void AddCall(const CUpti_ActivityAPI& record, wire::ApiDomain domain);
  void AddSync(const CUpti_ActivitySynchronization& record);
  void AddOverhead(const CUpti_ActivityOverhead2& record);
  void AddMarker(const CUpti_ActivityMarker2& record);
  void AddGraphTrace(const CUpti_ActivityGraphTrace& record);
  void AddMemory(const CUpti_ActivityMemory2& record);
  void AddMemoryPool(const CUpti_ActivityMemoryPool2& record);
  void AddDevice(const CUpti_ActivityDevice2& record);
  void AddContext(const CUpti_ActivityContext2& record);
  void AddStream(const CUpti_ActivityStream& record);
  void AddName(const CUpti_ActivityName& record);

  uint32_t Text(const char* text);
  uint32_t KernelName(const char* mangled);
  uint32_t CallName(wire::ApiDomain domain, CUpti_CallbackId id);
  void DefineText(uint32_t number, const char* text);
  void MeetThread(uint32_t thread);

  const CuptiApi& api_;
  Block& block_;
  TextTable texts_;
  uint32_t call_names_[2][kCalls] = {};
  uint32_t call_generation_ = 0;
  uint32_t threads_[kThreads] = {};
  uint64_t records_ = 0, unknown_ = 0;
  bool worth_writing_ = false;
};

}  // namespace gapless::internal::inject
