// SPDX-License-Identifier: Apache-2.0
// The place to which every form of samples gives its values: rows of `counter`, rows of `device`, and what was not
// read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ingest/readers/gpu_samples/columns.h"
#include "trace/builder.h"

namespace gapless::internal::gpu_samples {

class SampleSink {
 public:
  explicit SampleSink(TraceBuilder& builder) : builder_(builder), shard_(builder.NewShard()) {}

  void Add(std::string_view series, std::string_view unit, int32_t device, int64_t ts_ns, double value);
  // Adds what a cell says, by the kind of its column: a value, a mask of reasons, the memory, the name or the id of the
  // GPU. A series that the row has already is not added again: the first column counts.
  void AddCell(const Column& column, std::string_view cell, int32_t device, int64_t ts_ns);

  void BeginRow() { of_row_.clear(); }

  // The GPU of a key that is no number (an id, an address on the bus, a host and a number): the number that it wants if
  // no other key has it, else the next one that is free.
  int32_t DeviceOf(const std::string& key, int32_t wanted);
  DeviceRow& Device(int32_t device) { return devices_[device]; }
  void SetVendor(Vendor vendor) { vendor_ = vendor; }

  // The moment of a row without a time: a second after the row of this GPU before it, or after the last time that was
  // seen in the file.
  int64_t NextMoment(int32_t device);
  // A cell with a time: of the wall clock, or seconds since a moment that the file does not tell. Absent: neither.
  std::optional<int64_t> TimeIn(std::string_view cell);
  void SawTime(int64_t ts_ns) { last_time_ = ts_ns, rows_.clear(); }

  void CountUnread(std::string_view name) { ++unread_[std::string(name)]; }
  void CountContradiction() { ++contradictory_; }
  int64_t contradictory() const { return contradictory_; }
  int64_t samples() const { return samples_; }
  // Adds the GPUs, and the notes about what was left out.
  void Finish();

 private:
  TraceBuilder& builder_;
  TraceBuilder::Shard& shard_;
  std::map<int32_t, DeviceRow> devices_;
  std::map<std::string, int32_t> keys_;
  std::map<int32_t, int64_t> rows_;
  std::set<std::string, std::less<>> of_row_;  // series
  std::map<std::string, int64_t> unread_;
  int64_t samples_ = 0, contradictory_ = 0, last_time_ = kAbsent;
  Vendor vendor_ = Vendor::kNvidia;
  bool timeless_ = false, relative_ = false;
};

// "Fri Jul  3 08:33:53 2026", a local time.
std::optional<int64_t> ParseCtime(std::string_view text);

}  // namespace gapless::internal::gpu_samples
