// SPDX-License-Identifier: Apache-2.0
// From the records of a CUPTI stream to rows.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/names.h"
#include "ingest/readers/cupti/blocks.h"
#include "ingest/readers/cupti/clock_map.h"
#include "trace/builder.h"

namespace gapless::internal::cupti {

// A Note is something that reading reports besides rows, each with a count and the byte offset of the first. The order
// is that of kNoteTexts.
enum class Note : uint8_t {
  kBadRecord,
  kBadTime,
  kUnfinished,
  kUnknownRecord,
  kUnnamed,
  kOpenRange,
  kInstant,
  kNoThread,
  kDropped,
  kDroppedUnknown,
  kNotWritten,
  kCount
};

// A Rows object turns the records of one stream into rows of one shard. For one thread; builder and clocks must
// outlive it.
class Rows {
 public:
  Rows(TraceBuilder& builder, const wire::FileHeader& header, const ClockMap& clocks)
      : builder_(builder), shard_(builder.NewShard()), clocks_(clocks), pid_(header.pid) {}

  // Adds the records of a block. Records are self-delimiting, so an unknown type is skipped; a length beyond the
  // block drops the rest of the block.
  void AddBlock(const Block& block);
  // Adds the rows that wait for the end: calls of the driver made by the runtime, ranges still open, notes, names.
  void Finish();

  int64_t events() const { return events_; }
  bool finished() const { return finished_; }  // the process ended in order

 private:
  // A name of the stream and what it means. It is judged when it is first used as a kernel or as a call.
  struct Name {
    StringId text = StringId::kNone;
    bool defined = false, kernel_known = false, api_known = false;
    KernelTraits kernel{};
    StringId collective = StringId::kNone;
    ApiKind api = ApiKind::kNone;
    StringId call = StringId::kNone;
  };
  // The half of a range that came first: its start, or its end, then without a name.
  struct OpenRange {
    StringId name;
    int64_t ts_ns, tid;
  };
  struct Span {
    int64_t ts_ns = kAbsent, dur_ns = kAbsent;
    bool usable() const { return ts_ns != kAbsent && dur_ns != kAbsent; }
  };
  struct Tally {
    int64_t count = 0, first_offset = kAbsent;
  };
  static constexpr size_t kTypes = wire::kRecordTypes;

  void Add(wire::RecordType type, wire::FieldReader fields);
  void AddText(wire::FieldReader& fields);
  void AddMessage(wire::FieldReader& fields);
  void AddDropped(wire::FieldReader& fields);
  void AddKernel(wire::FieldReader& fields);
  void AddCopy(wire::FieldReader& fields);
  void AddMemset(wire::FieldReader& fields);
  void AddGraph(wire::FieldReader& fields);
  void AddCall(wire::FieldReader& fields);
  void AddSync(wire::FieldReader& fields);
  void AddOverhead(wire::FieldReader& fields);
  void AddMarker(wire::FieldReader& fields);
  void AddMemory(wire::FieldReader& fields);
  void AddMemoryPool(wire::FieldReader& fields);
  void AddDevice(wire::FieldReader& fields);
  void AddName(wire::FieldReader& fields);
  void AddThread(wire::FieldReader& fields);
  void AddCollective(const Name& name, const GpuOpRow& op);

  // The fields that device work begins with.
  GpuOpRow ReadWork(wire::RecordType type, wire::FieldReader& fields);
  void AddWork(const GpuOpRow& row, const wire::FieldReader& fields);
  Span ReadSpan(wire::RecordType type, wire::FieldReader& fields);
  int64_t ReadTime(wire::RecordType type, wire::FieldReader& fields);
  int64_t ReadCorrelation(wire::RecordType type, wire::FieldReader& fields);
  Name& NameOf(uint64_t number);
  std::string_view TextOf(uint64_t number) { return shard_.strings[NameOf(number).text]; }
  void Count(std::string_view name, int32_t device, int64_t ts_ns, int64_t bytes);
  void Tell(Note note, int64_t count = 1);

  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  const ClockMap& clocks_;
  const int64_t pid_;
  int64_t events_ = 0;
  bool finished_ = false;
  uint64_t record_offset_ = 0;
  std::array<uint64_t, kTypes> last_start_{}, last_correlation_{};
  std::vector<Name> names_;
  Name unnamed_;
  std::unordered_map<uint64_t, int32_t> device_of_context_;
  std::unordered_map<uint64_t, OpenRange> open_ranges_;
  std::unordered_map<uint64_t, int64_t> allocations_;  // bytes by address
  std::map<int32_t, int64_t> allocated_;               // bytes by device; kAbsent32: pinned host memory
  std::vector<int64_t> runtime_launches_;              // their correlations
  std::vector<SliceRow> driver_launches_;              // kept back until all of the runtime's are known
  std::array<Tally, static_cast<size_t>(Note::kCount)> tallies_{};
};

}  // namespace gapless::internal::cupti
