// SPDX-License-Identifier: Apache-2.0
// The documents of the server's routes beside those of the timeline (lanes/timeline.h, lanes/search.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

namespace gapless::internal {

struct ServedRunInfo {
  std::string id{}, subject{}, path{};
  std::vector<int64_t> ranks{};
  int64_t events = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&ServedRunInfo::id>("id", "", "its name in the routes"),
      Field<&ServedRunInfo::subject>("subject", "", "what it is of, for a title"),
      Field<&ServedRunInfo::path>("path", "", "where it was read from, as a word of a shell"),
      Field<&ServedRunInfo::ranks>("ranks", "", "ranks, ascending; empty: no recording has a rank"),
      Field<&ServedRunInfo::events>("events", "count", "events of all recordings"),
  };
};

struct ServedRuns {
  std::vector<ServedRunInfo> runs{};
  static constexpr FieldInfo kFields[] = {Field<&ServedRuns::runs>("runs", "", "the runs that are served")};
};

struct EventDetail {
  std::string_view name{};
  JsonScalar value{};
  std::string_view unit{}, help{};
  static constexpr FieldInfo kFields[] = {
      Field<&EventDetail::name>("name", "", "column of the table"),
      Field<&EventDetail::value>("value", "", "its value; columns without one are left out"),
      Field<&EventDetail::unit>("unit", "", "of the value", kUnlessEmpty),
      Field<&EventDetail::help>("help", "", "the column in a line"),
  };
};

struct EventLink {
  std::string_view what{}, kind{};
  int64_t id = 0, trace = 0, lane = -1, ts_ns = 0, dur_ns = 0;
  std::string_view name{};
  static constexpr FieldInfo kFields[] = {
      Field<&EventLink::what>("what", "", "launched by, launched, same collective or waited for"),
      Field<&EventLink::kind>("kind", "", "gpu_op or slice"),
      Field<&EventLink::id>("id", "", "id in the table of this kind"),
      Field<&EventLink::trace>("trace", "", "key of table trace"),
      Field<&EventLink::lane>("lane", "", "lane it is in; -1: none"),
      Field<&EventLink::ts_ns>("ts_ns", "ns", "when it began"),
      Field<&EventLink::dur_ns>("dur_ns", "ns", "how long it took"),
      Field<&EventLink::name>("name", "", "its name"),
  };
};

struct ServedEvent {
  std::string_view kind{};
  int64_t id = 0, trace = 0, lane = -1;
  std::string_view name{};
  int64_t ts_ns = 0, dur_ns = 0;
  std::vector<EventDetail> details{};
  std::vector<EventLink> links{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedEvent::kind>("kind", "", "gpu_op or slice"),
      Field<&ServedEvent::id>("id", "", "id in the table of this kind"),
      Field<&ServedEvent::trace>("trace", "", "key of table trace"),
      Field<&ServedEvent::lane>("lane", "", "lane it is in; -1: none"),
      Field<&ServedEvent::name>("name", "", "its name"),
      Field<&ServedEvent::ts_ns>("ts_ns", "ns", "when it began"),
      Field<&ServedEvent::dur_ns>("dur_ns", "ns", "how long it took"),
      Field<&ServedEvent::details>("details", "", "what else was recorded"),
      Field<&ServedEvent::links>("links", "", "events that belong to it"),
  };
};

struct ResultColumn {
  std::string name{};
  std::string_view type{}, unit{}, help{};
  static constexpr FieldInfo kFields[] = {
      Field<&ResultColumn::name>("name", "", "name of the column"),
      Field<&ResultColumn::type>("type", "", "int, real or text"),
      Field<&ResultColumn::unit>("unit", "", "unit of its values; empty: none is known"),
      Field<&ResultColumn::help>("help", "", "what it holds; empty: it is computed"),
  };
};

struct QueryAnswer {
  std::vector<ResultColumn> columns{};
  int64_t rows = 0;
  bool complete = true;
  std::vector<std::vector<JsonScalar>> cells{};
  static constexpr FieldInfo kFields[] = {
      Field<&QueryAnswer::columns>("columns", "", "columns of the result"),
      Field<&QueryAnswer::rows>("rows", "count", "rows that are here"),
      Field<&QueryAnswer::complete>("complete", "", "false: there are more than are handed out"),
      Field<&QueryAnswer::cells>("cells", "", "a list for each column"),
  };
};

// All documents of the routes that are described: the page is built with their types.
std::span<const TypeInfo* const> ServedTypes();

}  // namespace gapless::internal
