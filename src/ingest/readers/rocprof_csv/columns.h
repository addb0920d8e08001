// SPDX-License-Identifier: Apache-2.0
// The columns of the tables of ROCm's profilers, whichever version wrote them, and what kind of table they make.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::rocm {

enum class Column : uint8_t {
  kKernel,
  kStart,
  kEnd,
  kAgent,
  kQueue,
  kStream,
  kThread,
  kProcess,
  kDispatch,
  kCorrelation,
  kShared,
  kRegisters,
  kGroup,
  kGroupX,
  kGroupY,
  kGroupZ,
  kGrid,
  kGridX,
  kGridY,
  kGridZ,
  kDirection,
  kFrom,
  kTo,
  kBytes,
  kDomain,
  kFunction,
  kOperation,
  kSize,
  kAddress,
  kCounter,
  kValue,
  kName,
  kCalls,
  kTotal,
  kAgentNumber,
  kAgentType,
  kArchitecture,
  kProduct,
  kComputeUnits,
  kClock,
  kScratchFlags,
  kCount,
  kIgnored = 254,
  kOther = 255
};

enum class Form : uint8_t { kNone, kDispatches, kCounters, kCopies, kCalls, kAllocations, kScratch, kAgents, kSummary };

// A Head is the first row of a table.
struct Head {
  Form form = Form::kNone;
  std::array<int, static_cast<size_t>(Column::kCount)> places{};  // -1: there is no such column
  std::vector<std::pair<int, std::string>> counters{};            // columns that are counters, of kDispatches
  size_t columns = 0;

  int PlaceOf(Column column) const { return places[static_cast<size_t>(column)]; }
  bool Has(Column column) const { return PlaceOf(column) >= 0; }
};

// Understands the first row; kNone: it is of no table that is known.
Head HeadOf(const std::vector<std::string>& fields);

}  // namespace gapless::internal::rocm
