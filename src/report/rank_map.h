// SPDX-License-Identifier: Apache-2.0
// Data that the page draws of a job of many ranks: the time of every device in every step, by what it went to.
//
// The ledger of ten thousand ranks is a hundred megabytes of JSON. Here it is columns of 16-bit numbers, base64: each
// is a share of the largest value of its column, so a step is exact to 1/65,534 of the longest time of its kind, which
// no picture shows. web/src/rank_map.ts reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/json_writer.h"

namespace gapless::internal {

// Devices from which the page draws the map; it draws the ledger of fewer.
inline constexpr size_t kFewestOfMap = 65;
// Cells (devices × steps) at most: 1.7 MB of the page. The last steps are left out first, then the last devices.
inline constexpr size_t kMostMapCells = 80'000;

struct RankMapColumn {
  std::string_view name{};        // column of table ledger
  double unit_ns = 0;             // a cell says that many times this
  std::vector<uint16_t> cells{};  // by device, then by step
};
inline constexpr uint16_t kNoMapCell = 65'535;  // the device has no such step

// The places of the devices' ranks in one dimension of the job: table rank_layout.
struct RankMapDimension {
  std::string_view name{};       // column of that table
  std::vector<int64_t> place{};  // place of each device in its group; kAbsent: in none
  std::vector<int64_t> group{};  // number of each device's group; kAbsent: in none
};

struct RankMap {
  std::vector<int64_t> ranks{};            // by device; kAbsent: none
  std::vector<int64_t> devices{};          // its number in its host
  std::vector<std::string> hosts{};        // as recorded
  std::vector<int64_t> host_of{};          // by device: index of hosts; kAbsent: not recorded
  std::vector<int64_t> steps{};            // numbers
  std::vector<RankMapColumn> columns{};    // those that are not 0 everywhere
  std::vector<RankMapDimension> layout{};  // those in which ranks have different places
  size_t all_devices = 0, all_steps = 0;
};

// Returns an empty map (no columns) of fewer devices than kFewestOfMap, or without steps.
RankMap RankMapOf(Tables& tables);
// Writes the member "rank_map"; nothing of an empty map.
void WriteRankMap(JsonWriter& json, const RankMap& map);

}  // namespace gapless::internal
