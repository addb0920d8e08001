// SPDX-License-Identifier: Apache-2.0
// Sums of nsys stats: kernels and copies become metrics of kernels, calls of CUDA functions of the host.
#pragma once

#include "ingest/readers/nsys_stats/tables.h"
#include "trace/builder.h"

namespace gapless::internal::nsys_stats {

// Takes the first table of each kind: later ones are of other runs, or the same sums again.
class Summary {
 public:
  explicit Summary(TraceBuilder& builder) : builder_(builder) {}
  // Does nothing with a table that is no summary.
  void Add(const Table& table);
  int64_t rows() const { return rows_; }
  int64_t others() const { return others_; }      // tables of a kind that was there before
  int64_t bad_rows() const { return bad_rows_; }  // rows without time or calls

 private:
  void AddRow(const Table& table, const std::vector<std::string>& row);
  void AddDeviceRow(std::string_view name, int64_t calls, double ns);

  TraceBuilder& builder_;
  int64_t rows_ = 0, others_ = 0, bad_rows_ = 0, device_rows_ = 0;
  bool has_kernels_ = false, has_copies_ = false, has_calls_ = false;
};

}  // namespace gapless::internal::nsys_stats
