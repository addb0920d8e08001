// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/described_json.h"
#include "base/strings.h"
#include "lanes/search.h"
#include "lanes/selection.h"
#include "serve/event.h"
#include "serve/reply.h"

namespace gapless::internal {
namespace {

std::optional<int64_t> NumberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

Result<int64_t> NumberOf(const HttpRequest& request, std::string_view name) {
  if (const auto number = NumberIn(request.Parameter(name))) return *number;
  return Fail(ErrorCode::kUsage, StrCat("the parameter ", name, " is missing, or no whole number"));
}

// The traces that `trace` or `rank` names: of a rank all, as it may have several recordings.
Result<std::vector<const TraceLanes*>> TracesOf(const HttpRequest& request, const ServedRun& run) {
  std::vector<const TraceLanes*> traces;
  if (!request.Parameter("rank").empty()) {
    GAPLESS_ASSIGN(const int64_t rank, NumberOf(request, "rank"));
    for (const auto& lanes : run.lanes().traces())
      if (lanes->of().rank() == rank) traces.push_back(lanes.get());
    if (traces.empty()) return Fail(ErrorCode::kUsage, StrCat("no recording is of rank ", rank));
    return traces;
  }
  GAPLESS_ASSIGN(const int64_t trace, NumberOf(request, "trace"));
  traces.push_back(run.lanes().Of(trace));
  if (traces.front() == nullptr) return Fail(ErrorCode::kUsage, StrCat("no recording has the number ", trace));
  return traces;
}

JsonScalar CellOf(const Table& table, size_t row, int column) {
  if (table.IsNull(row, column)) return std::monostate();
  switch (table.columns()[static_cast<size_t>(column)].type) {
    case ColumnType::kText: return std::string(table.Text(row, column));
    case ColumnType::kInt: return table.Int(row, column);
    case ColumnType::kReal: break;
  }
  return table.Real(row, column);
}

SelectedSums SumsOf(const SelectionTable& sums) {
  constexpr size_t kMostRows = 1000;
  const Table& table = sums.table;
  const size_t rows = std::min(kMostRows, table.rows());
  SelectedSums selected{.name = std::string(table.name()), .help = sums.help};
  for (const ColumnSpec& column : table.columns()) {
    const std::string_view type = column.type == ColumnType::kText  ? "text"
                                  : column.type == ColumnType::kInt ? "int"
                                                                    : "real";
    selected.columns.push_back({std::string(column.name), type, column.unit, column.help});
    std::vector<JsonScalar>& cells = selected.cells.emplace_back();
    const int at = static_cast<int>(selected.cells.size()) - 1;
    for (size_t row = 0; row < rows; ++row) cells.push_back(CellOf(table, row, at));
  }
  return selected;
}

}  // namespace

Result<std::string> TimelineRoute(const HttpRequest&, const ServedRun& run) { return JsonOf(run.lanes().Overview()); }

Result<std::string> TileRoute(const HttpRequest& request, const ServedRun& run) {
  GAPLESS_ASSIGN(const auto traces, TracesOf(request, run));
  GAPLESS_ASSIGN(const int64_t level, NumberOf(request, "level"));
  GAPLESS_ASSIGN(const int64_t at, NumberOf(request, "at"));
  if (!RunLanes::IsTile(level, at))
    return Fail(ErrorCode::kUsage, StrCat("there is no such tile: a level is 0 to ", kMaxLevel));
  return JsonOf(run.lanes().Tile(traces, static_cast<int>(level), at));
}

Result<std::string> SearchRoute(const HttpRequest& request, const ServedRun& run) {
  constexpr int64_t kMost = 5000, kUsual = 500;
  int64_t most = kUsual;
  if (!request.Parameter("most").empty()) {
    GAPLESS_ASSIGN(most, NumberOf(request, "most"));
  }
  GAPLESS_ASSIGN(const auto hits, SearchEvents(run.lanes(), request.Parameter("q"),
                                               static_cast<size_t>(std::clamp<int64_t>(most, 0, kMost))));
  return JsonOf(hits);
}

Result<std::string> EventRoute(const HttpRequest& request, const ServedRun& run) {
  GAPLESS_ASSIGN(const int64_t id, NumberOf(request, "id"));
  GAPLESS_ASSIGN(const auto event, EventOf(run.lanes(), request.Parameter("kind"), id));
  return JsonOf(event);
}

Result<std::string> SelectionRoute(const HttpRequest& request, const ServedRun& run) {
  constexpr int64_t kFarthest = int64_t{1} << 61;
  SelectionRange range;
  GAPLESS_ASSIGN(const auto traces, TracesOf(request, run));
  GAPLESS_ASSIGN(range.from, NumberOf(request, "from"));
  GAPLESS_ASSIGN(range.to, NumberOf(request, "to"));
  if (range.from < -kFarthest || range.to > kFarthest || range.to <= range.from)
    return Fail(ErrorCode::kUsage, "`from` must be before `to`");
  if (const std::string_view lanes = request.Parameter("lanes"); !lanes.empty()) {
    for (const std::string_view item : Split(lanes, ',')) {
      const auto lane = NumberIn(item);
      if (!lane) return Fail(ErrorCode::kUsage, "the parameter lanes is a list of numbers: 3,4");
      range.lanes.push_back(*lane);
    }
  }
  SelectionSums sums = SumSelection(*traces.front(), range);
  ServedSelection selection{.flame = std::move(sums.flame)};
  for (const SelectionTable& table : sums.tables) selection.tables.push_back(SumsOf(table));
  return JsonOf(selection);
}

}  // namespace gapless::internal
