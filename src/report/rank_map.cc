// SPDX-License-Identifier: Apache-2.0
#include "report/rank_map.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyses/parallel_groups.h"
#include "analyses/rows/ledger.h"
#include "analyses/rows/rank_layout.h"

namespace gapless::internal {
namespace {

constexpr LedgerRows::IntColumn kMapColumns[] = {"wall_ns",         "compute_ns",   "exposed_comm_ns",
                                                 "exposed_copy_ns", "idle_data_ns", "idle_launch_ns",
                                                 "idle_sync_ns",    "idle_host_ns", "idle_unknown_ns"};

using Owner = std::pair<int64_t, int64_t>;  // process and device number

struct Places {
  std::map<Owner, size_t> devices{};
  std::map<int64_t, size_t> steps{};
  size_t all_devices = 0, all_steps = 0;
};

Owner DeviceOwner(const LedgerRows& ledger, size_t row, const Run& run) {
  const int64_t trace = ledger.Int(row, "trace");
  return {run.traces()[static_cast<size_t>(trace)].process, ledger.Int(row, "device")};
}

Places MapPlaces(const LedgerRows& ledger, const Run& run) {
  std::set<Owner> devices;
  std::set<int64_t> steps;
  for (size_t row = 0; row < ledger.rows(); ++row) {
    devices.insert(DeviceOwner(ledger, row, run));
    if (!ledger.IsNull(row, "step")) steps.insert(ledger.Int(row, "step"));
  }
  Places places{.all_devices = devices.size(), .all_steps = steps.size()};
  if (devices.empty()) return places;
  const size_t fit = std::max<size_t>(1, kMostMapCells / devices.size());
  for (const int64_t step : steps)
    if (places.steps.size() < fit) places.steps.emplace(step, places.steps.size());
  for (const Owner& device : devices)
    if (places.devices.size() < kMostMapCells) places.devices.emplace(device, places.devices.size());
  return places;
}

void DescribeDevices(const Places& places, const Run& run, RankMap& map) {
  std::map<std::string, int64_t> hosts;
  for (const auto& [owner, place] : places.devices) {
    const RunTrace& of = run.traces()[static_cast<size_t>(owner.first)];
    map.ranks.push_back(of.rank()), map.devices.push_back(owner.second);
    const std::string& host = of.trace->info.host;
    if (host.empty()) {
      map.host_of.push_back(kAbsent);
      continue;
    }
    const auto [at, is_new] = hosts.try_emplace(host, static_cast<int64_t>(map.hosts.size()));
    if (is_new) map.hosts.push_back(host);
    map.host_of.push_back(at->second);
  }
}

struct DimensionColumn {
  RankLayoutRows::IntColumn column;
  ParallelDimension dimension;
};
constexpr DimensionColumn kDimensions[] = {{"data", ParallelDimension::kData},
                                           {"tensor", ParallelDimension::kTensor},
                                           {"pipeline", ParallelDimension::kPipeline},
                                           {"expert", ParallelDimension::kExpert},
                                           {"expert_data", ParallelDimension::kExpertData},
                                           {"sequence", ParallelDimension::kSequence},
                                           {"context", ParallelDimension::kContext}};

void DescribeLayout(const Places& places, Tables& tables, RankMap& map) {
  const auto layout = tables.Get<RankLayoutRows>();  // a row for each timeline, in their order
  const ParallelGroups& groups = tables.OnceForRun(ParallelGroupsOf);
  std::map<int64_t, size_t> row_of;  // process -> row
  for (size_t row = 0; row < layout.rows(); ++row)
    row_of.emplace(tables.run().traces()[static_cast<size_t>(layout.Int(row, "trace"))].process, row);
  for (const auto& [column, dimension] : kDimensions) {
    RankMapDimension its{.name = column.name()};
    std::set<int64_t> different;
    for (const auto& [owner, place] : places.devices) {
      const auto row = row_of.find(owner.first);
      const bool known = row != row_of.end() && !layout.IsNull(row->second, column);
      its.place.push_back(known ? layout.Int(row->second, column) : kAbsent);
      its.group.push_back(known ? groups.of[row->second][static_cast<size_t>(dimension)] : kAbsent);
      if (known) different.insert(its.place.back());
    }
    if (different.size() > 1) map.layout.push_back(std::move(its));
  }
}

// Times of a device and a step add up where a process was recorded in several stretches.
RankMapColumn PackedColumn(const LedgerRows& ledger, LedgerRows::IntColumn column, const Places& places,
                           const Run& run) {
  std::vector<int64_t> ns(places.devices.size() * places.steps.size(), kAbsent);
  int64_t most = 0;
  for (size_t row = 0; row < ledger.rows(); ++row) {
    if (ledger.IsNull(row, "step")) continue;
    const auto device = places.devices.find(DeviceOwner(ledger, row, run));
    const auto step = places.steps.find(ledger.Int(row, "step"));
    if (device == places.devices.end() || step == places.steps.end()) continue;
    int64_t& cell = ns[device->second * places.steps.size() + step->second];
    cell = (cell == kAbsent ? 0 : cell) + ledger.Int(row, column);
    most = std::max(most, cell);
  }
  RankMapColumn packed{.name = column.name()};
  if (most == 0) return packed;
  packed.unit_ns = static_cast<double>(most) / (kNoMapCell - 1);
  for (const int64_t cell : ns)
    packed.cells.push_back(
        cell == kAbsent ? kNoMapCell : static_cast<uint16_t>(std::lround(static_cast<double>(cell) / packed.unit_ns)));
  return packed;
}

// Little-endian numbers as base64, padded.
std::string Base64Of(const std::vector<uint16_t>& cells) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes, text;
  for (const uint16_t cell : cells) bytes += static_cast<char>(cell & 0xff), bytes += static_cast<char>(cell >> 8);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

void WriteWhole(JsonWriter& json, std::string_view key, const std::vector<int64_t>& numbers) {
  json.Key(key);
  json.BeginArray();
  for (const int64_t number : numbers) number == kAbsent ? json.Null() : json.Int(number);
  json.EndArray();
}

}  // namespace

RankMap RankMapOf(Tables& tables) {
  RankMap map;
  const auto ledger = tables.Get<LedgerRows>();
  const Places places = MapPlaces(ledger, tables.run());
  map.all_devices = places.all_devices, map.all_steps = places.all_steps;
  if (places.all_devices < kFewestOfMap || places.steps.empty()) return map;
  DescribeDevices(places, tables.run(), map);
  DescribeLayout(places, tables, map);
  for (const auto& [step, place] : places.steps) map.steps.push_back(step);
  for (const LedgerRows::IntColumn column : kMapColumns)
    if (RankMapColumn packed = PackedColumn(ledger, column, places, tables.run()); !packed.cells.empty())
      map.columns.push_back(std::move(packed));
  return map;
}

void WriteRankMap(JsonWriter& json, const RankMap& map) {
  if (map.columns.empty()) return;
  json.Key("rank_map");
  json.BeginObject();
  WriteWhole(json, "ranks", map.ranks);
  WriteWhole(json, "devices", map.devices);
  json.Key("hosts");
  json.BeginArray();
  for (const std::string& host : map.hosts) json.String(host);
  json.EndArray();
  WriteWhole(json, "host_of", map.host_of);
  WriteWhole(json, "steps", map.steps);
  json.Field("all_devices", map.all_devices);
  json.Field("all_steps", map.all_steps);
  json.Key("columns");
  json.BeginArray();
  for (const RankMapColumn& column : map.columns) {
    json.BeginObject();
    json.Field("name", column.name);
    json.Field("unit_ns", column.unit_ns);
    json.Field("cells", Base64Of(column.cells));
    json.EndObject();
  }
  json.EndArray();
  if (!map.layout.empty()) {
    json.Key("layout");
    json.BeginArray();
    for (const RankMapDimension& dimension : map.layout) {
      json.BeginObject();
      json.Field("name", dimension.name);
      WriteWhole(json, "place", dimension.place);
      WriteWhole(json, "group", dimension.group);
      json.EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace gapless::internal
