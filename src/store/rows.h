// SPDX-License-Identifier: Apache-2.0
// Records as rows of the tables, and back.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "store/backend.h"
#include "store/history.h"

namespace gapless::internal {

// Makes a text storable: what is no UTF-8, and zero bytes, become U+FFFD. An error: it is longer than that.
Result<void> CleanText(std::string& text, std::string_view what, size_t longest);
// The record as it can be stored: checked, uid and times filled in, texts as UTF-8 without zero bytes.
Result<BenchmarkRecord> Prepared(BenchmarkRecord record);

// Writes prepared records inside of the transaction that is open. The first failure ends it.
Result<std::vector<Recorded>> InsertRecords(Connection& connection, std::span<const BenchmarkRecord> records);
Result<void> InsertVerdict(Connection& connection, int64_t run, const VerdictRecord& verdict);

// Reads inside of the transaction that is open.
Result<void> VisitRecords(Connection& connection, const HistoryFilter& filter,
                          const std::function<Result<void>(const BenchmarkRecord&)>& visitor);

// Samples as they are stored: doubles of IEEE 754, 8 bytes each, the lowest first.
std::string PackSamples(std::span<const double> samples);
std::vector<double> UnpackSamples(std::string_view content);

}  // namespace gapless::internal
