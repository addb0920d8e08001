// SPDX-License-Identifier: Apache-2.0
// Reports of nsys stats that list events with their times, as the rows that a recording of nsys has.
#pragma once

#include <map>

#include "ingest/reader.h"
#include "ingest/readers/nsys/devices.h"
#include "ingest/readers/nsys/meaning.h"
#include "ingest/readers/nsys_stats/tables.h"

namespace gapless::internal::nsys_stats {

class TraceRows {
 public:
  explicit TraceRows(TraceBuilder& builder) : meaning_(facts_, builder.NewShard()) {}
  // Does nothing with a table that lists no events, or those of a report that was there before.
  void Add(const Table& table);
  void Finish(TraceBuilder& builder);
  int64_t rows() const { return rows_; }
  int64_t others() const { return others_; }

 private:
  using Row = std::vector<std::string>;
  void AddOp(const Table& table, const Row& row);
  void AddCall(const Table& table, const Row& row);
  void AddLaunch(const Table& table, const Row& row);
  void AddRange(const Table& table, const Row& row);
  int64_t TextOf(std::string_view text);
  int32_t DeviceOf(std::string_view device);

  nsys::Facts facts_{};
  nsys::Meaning meaning_;
  nsys::Gpus gpus_{};
  std::map<std::string, int64_t, std::less<>> texts_{};
  std::map<std::string, int32_t, std::less<>> devices_{};
  int64_t rows_ = 0, others_ = 0, launches_ = 0;
  bool has_ops_ = false, has_calls_ = false, has_ranges_ = false;
};

}  // namespace gapless::internal::nsys_stats
