// SPDX-License-Identifier: Apache-2.0
// Turns the table of ncu into rows of kernel_metric.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/csv.h"
#include "base/result.h"
#include "ingest/readers/ncu_csv/launches.h"
#include "ingest/readers/ncu_csv/printed.h"
#include "trace/builder.h"

namespace gapless::internal::ncu {

class MetricTable {
 public:
  // `text` begins with the head of the table.
  MetricTable(std::string_view text, TraceBuilder& builder) : csv_(text), builder_(builder) {}
  // Reads all tables of the text into the builder. Returns an error if the text does not begin with a head; odd
  // rows are counted. To be called once.
  Result<void> Read(const std::string& path);

 private:
  using Row = std::vector<std::string>;

  void TakeHead(Row head);
  void ReadRows();
  void FindStyle();
  std::string_view Get(const Row& row, std::string_view column) const;
  bool IsLong() const { return column_.contains("Metric Name"); }
  // Sets the launch that the row is about; false: the row names no kernel.
  bool TakeLaunch(const Row& row, std::string_view metric);
  void TakeAbout(const Row& row);
  void Add(std::string_view metric, double value, std::string_view text, std::string_view unit);
  void AddValue(std::string_view metric, std::string_view printed, std::string_view unit);
  void AddWide(const Row& row);
  void AddLong(const Row& row);
  const BaseUnit& BaseOf(std::string_view unit);
  void Finish();

  CsvReader csv_;
  TraceBuilder& builder_;
  Row head_, units_;
  std::map<std::string, size_t, std::less<>> column_;
  std::vector<Row> rows_;  // rows of all tables; the head of each table before its rows
  std::map<std::string, BaseUnit, std::less<>> bases_;
  NumberStyle style_;
  Launches launches_;
  std::string kernel_;
  int64_t launch_ = kAbsent;
  std::unordered_set<int64_t> described_;
  std::set<std::string> sections_;
  int64_t metrics_ = 0, absent_ = 0, contradictory_ = 0, other_lines_ = 0;
};

}  // namespace gapless::internal::ncu
