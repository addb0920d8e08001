// SPDX-License-Identifier: Apache-2.0
// The documents of the server's routes beside those of the timeline (lanes/timeline.h, lanes/search.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/described_routes.h"
#include "flows/optimize_progress.h"
#include "lanes/selection.h"

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

// Nodes have nodes: the type is defined in the source, so that its list of fields can name it.
template <>
struct TypeOf<FlameNode> {
  static const TypeInfo kInfo;
};

template <>
struct Described<FlameNode> {
  static constexpr FieldInfo kFields[] = {
      Field<&FlameNode::name>("name", "", "function, call or thread"),
      Field<&FlameNode::kind>("kind", "", "what it is"),
      Field<&FlameNode::total_ns>("total_ns", "ns", "its time within the selection"),
      Field<&FlameNode::self_ns>("self_ns", "ns", "what of it is in none of its children"),
      Field<&FlameNode::children>("children", "", "what it called, the longest first"),
  };
};

// A table of sums; cells are lists by column.
struct SelectedSums {
  std::string name{};
  std::string_view help{};
  std::vector<ResultColumn> columns{};
  std::vector<std::vector<JsonScalar>> cells{};
  static constexpr FieldInfo kFields[] = {
      Field<&SelectedSums::name>("name", "", "what is summed"),
      Field<&SelectedSums::help>("help", "", "the table in a line"),
      Field<&SelectedSums::columns>("columns", "", "its columns"),
      Field<&SelectedSums::cells>("cells", "", "a list for each column"),
  };
};

struct ServedSelection {
  std::vector<SelectedSums> tables{};
  std::vector<FlameNode> flame{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedSelection::tables>("tables", "", "sums, those that have rows"),
      Field<&ServedSelection::flame>("flame", "", "a root for each thread, the one of most time first"),
  };
};

// A history, an optimisation or a job that is served.
struct ServedThing {
  std::string id{}, name{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedThing::id>("id", "", "its name in the routes"),
      Field<&ServedThing::name>("name", "", "where it is read from"),
  };
};

struct ServedSite {
  std::vector<ServedRunInfo> runs{};
  std::vector<ServedThing> history{}, optimize{}, monitor{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedSite::runs>("runs", "", "recordings"),
      Field<&ServedSite::history>("history", "", "histories of benchmarks"),
      Field<&ServedSite::optimize>("optimize", "", "searches of gapless optimize"),
      Field<&ServedSite::monitor>("monitor", "", "jobs that are under way, or were when serving began"),
  };
};

struct ServedSeries {
  std::string branch{}, benchmark{};
  int64_t runs = 0;
  std::optional<int64_t> newest_unix_ms{};
  std::vector<std::string> metrics{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedSeries::branch>("branch", "", "branch; empty: not recorded"),
      Field<&ServedSeries::benchmark>("benchmark", "", "name of the benchmark; empty: not recorded"),
      Field<&ServedSeries::runs>("runs", "count", "runs of it"),
      Field<&ServedSeries::newest_unix_ms>("newest_unix_ms", "ms", "when the newest was recorded, in Unix time"),
      Field<&ServedSeries::metrics>("metrics", "", "metrics that any of them has"),
  };
};

struct ServedSeriesList {
  std::string id{}, place{};
  std::vector<ServedSeries> series{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedSeriesList::id>("id", "", "name of the history in the routes"),
      Field<&ServedSeriesList::place>("place", "", "where it is, without a password"),
      Field<&ServedSeriesList::series>("series", "", "benchmarks on branches, the newest run first"),
  };
};

// A search of `gapless optimize`.
struct ServedSearch {
  std::string id{}, path{}, state{};
  std::optional<documents::OptimizeProgress> progress{};
  bool has_result = false;
  std::string diff{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedSearch::id>("id", "", "its name in the routes"),
      Field<&ServedSearch::path>("path", "", "folder or document that it is read from"),
      Field<&ServedSearch::state>(
          "state", "", "recording, trying, done, failed, or stopped: its process is gone, and did not say so"),
      Field<&ServedSearch::progress>("progress", "", "how far it is; missing: only its result is known"),
      Field<&ServedSearch::has_result>("has_result", "", "the route of its result has one"),
      Field<&ServedSearch::diff>("diff", "", "the patch", kUnlessEmpty),
  };
};

// One process of a job. Of each step that is here its place in the lists; the newest is last.
struct JobProcess {
  std::string name{};
  int64_t pid = 0;
  std::optional<int64_t> rank{};
  bool alive = false;
  int64_t steps = 0;
  std::vector<int64_t> step{}, at_unix_ms{}, step_ns{}, wait_ns{}, samples{};
  std::optional<double> loss{}, memory_bytes{};
  static constexpr FieldInfo kFields[] = {
      Field<&JobProcess::name>("name", "", "its folder: main, or rank and number"),
      Field<&JobProcess::pid>("pid", "", "process id"),
      Field<&JobProcess::rank>("rank", "", "its rank"),
      Field<&JobProcess::alive>("alive", "", "it runs"),
      Field<&JobProcess::steps>("steps", "count", "steps that were seen"),
      Field<&JobProcess::step>("step", "", "numbers of the newest steps"),
      Field<&JobProcess::at_unix_ms>("at_unix_ms", "ms", "when each ended, in Unix time"),
      Field<&JobProcess::step_ns>("step_ns", "ns", "how long each took on the host"),
      Field<&JobProcess::wait_ns>("wait_ns", "ns", "what of it was waiting for the next batch"),
      Field<&JobProcess::samples>("samples", "count", "samples of each; -1: not known"),
      Field<&JobProcess::loss>("loss", "", "the last loss that was read"),
      Field<&JobProcess::memory_bytes>("memory_bytes", "bytes", "device memory that tensors take"),
  };
};

// A value of the machine over time.
struct JobGauge {
  std::string what{}, name{}, unit{};
  std::vector<int64_t> at_unix_ms{};
  std::vector<double> value{};
  static constexpr FieldInfo kFields[] = {
      Field<&JobGauge::what>("what", "", "utilization, memory or power"),
      Field<&JobGauge::name>("name", "", "whose it is"),
      Field<&JobGauge::unit>("unit", "", "share, bytes or W"),
      Field<&JobGauge::at_unix_ms>("at_unix_ms", "ms", "when each was read, in Unix time"),
      Field<&JobGauge::value>("value", "", "each value"),
  };
};

struct JobEvent {
  int64_t at_unix_ms = 0;
  std::string text{}, run{};
  static constexpr FieldInfo kFields[] = {
      Field<&JobEvent::at_unix_ms>("at_unix_ms", "ms", "when it was, in Unix time"),
      Field<&JobEvent::text>("text", "", "what happened, as a sentence"),
      Field<&JobEvent::run>("run", "", "the run of the recording that was made of it", kUnlessEmpty),
  };
};

struct JobRecording {
  std::string name{}, run{};
  int64_t at_unix_ms = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&JobRecording::name>("name", "", "its file below the run folder"),
      Field<&JobRecording::run>("run", "", "the run that it is opened as"),
      Field<&JobRecording::at_unix_ms>("at_unix_ms", "ms", "when it was written, in Unix time"),
  };
};

struct ServedJob {
  std::string id{}, folder{}, state{};
  std::vector<JobProcess> processes{};
  std::vector<JobGauge> gauges{};
  std::vector<JobEvent> events{};
  std::vector<JobRecording> recordings{};
  static constexpr FieldInfo kFields[] = {
      Field<&ServedJob::id>("id", "", "its name in the routes"),
      Field<&ServedJob::folder>("folder", "", "its run folder"),
      Field<&ServedJob::state>("state", "", "running or over"),
      Field<&ServedJob::processes>("processes", "", "processes that train"),
      Field<&ServedJob::gauges>("gauges", "", "what the run's telemetry says; empty: there is none"),
      Field<&ServedJob::events>("events", "", "slow steps and late ranks, in order"),
      Field<&ServedJob::recordings>("recordings", "", "recordings in the folder, in the order of their time"),
  };
};

// All documents of the routes that are described: the page is built with their types, and their schema is a page of
// `gapless docs`.
std::span<const TypeInfo* const> ServedTypes();
std::span<const DescribedRoute> ServedRoutes();

}  // namespace gapless::internal
