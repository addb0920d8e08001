// SPDX-License-Identifier: Apache-2.0
// The form of the data of a run's page, which report/page_data.cc writes beside the document of `analyze --json`: for
// the schema of the routes. Nothing is written from it; a test holds real answers against the schema.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/energy/document.h"
#include "serve/documents.h"

namespace gapless::internal::report_form {

struct Note {
  std::string severity{}, text{};
  static constexpr FieldInfo kFields[] = {
      Field<&Note::severity>("severity", "", "info, loss or error"),
      Field<&Note::text>("text", "", "what to know"),
  };
};

struct Words {
  std::string subject{}, path{}, advice{}, query{};
  std::optional<int64_t> recordings{}, events{};
  std::vector<std::string> facts{};
  std::vector<Note> notes{};
  static constexpr FieldInfo kFields[] = {
      Field<&Words::subject>("subject", "", "what the run is of"),
      Field<&Words::path>("path", "", "where it was read from, as a word of a shell"),
      Field<&Words::advice>("advice", "", "how to record more", kUnlessEmpty),
      Field<&Words::query>("query", "", "what to type next"),
      Field<&Words::recordings>("recordings", "count", "of a job of many ranks"),
      Field<&Words::events>("events", "count", "of all of them"),
      Field<&Words::facts>("facts", "", "whose recording it is"),
      Field<&Words::notes>("notes", "", "what to know about it"),
  };
};

struct Lane {
  std::string name{};
  std::vector<std::vector<JsonScalar>> spans{};
  static constexpr FieldInfo kFields[] = {
      Field<&Lane::name>("name", "", "name of the lane"),
      Field<&Lane::spans>("spans", "", "start and duration in ns, and what it is spent on"),
  };
};

struct Picture {
  int64_t dur_ns = 0;
  std::vector<Lane> lanes{};
  static constexpr FieldInfo kFields[] = {
      Field<&Picture::dur_ns>("dur_ns", "ns", "the step"),
      Field<&Picture::lanes>("lanes", "", "its lanes"),
  };
};

struct Swept {
  std::string name{};
  int64_t time_ns = 0;
  std::vector<std::vector<double>> points{};
  static constexpr FieldInfo kFields[] = {
      Field<&Swept::name>("name", "", "the kernel"),
      Field<&Swept::time_ns>("time_ns", "ns", "its time in a step"),
      Field<&Swept::points>("points", "", "its cost, and the step that results, as shares of now"),
  };
};

struct Predicted {
  Picture before{}, after{};
  std::vector<Swept> sweep{};
  static constexpr FieldInfo kFields[] = {
      Field<&Predicted::before>("before", "", "a step as it is"),
      Field<&Predicted::after>("after", "", "the step with the plan"),
      Field<&Predicted::sweep>("sweep", "", "what a step takes as a kernel gets cheaper"),
  };
};

struct Rows {
  std::string name{}, help{}, sort{};
  int64_t rows = 0;
  std::vector<ResultColumn> columns{};
  std::vector<std::vector<JsonScalar>> cells{};
  static constexpr FieldInfo kFields[] = {
      Field<&Rows::name>("name", "", "name of the table"),
      Field<&Rows::help>("help", "", "the table in a line"),
      Field<&Rows::sort>("sort", "", "the column that says how much", kUnlessEmpty),
      Field<&Rows::rows>("rows", "count", "rows of the table; fewer may be here"),
      Field<&Rows::columns>("columns", "", "its columns"),
      Field<&Rows::cells>("cells", "", "a list for each column; a text is its place in `texts`"),
  };
};

struct MapColumn {
  std::string name{};
  int64_t unit_ns = 0;
  std::string cells{};
  static constexpr FieldInfo kFields[] = {
      Field<&MapColumn::name>("name", "", "what it holds"),
      Field<&MapColumn::unit_ns>("unit_ns", "ns", "of a cell"),
      Field<&MapColumn::cells>("cells", "", "16-bit numbers by device, then by step, in base64"),
  };
};

struct MapDimension {
  std::string name{};
  std::vector<JsonScalar> place{}, group{};
  static constexpr FieldInfo kFields[] = {
      Field<&MapDimension::name>("name", "", "a dimension of the job's layout"),
      Field<&MapDimension::place>("place", "", "of each device in its group"),
      Field<&MapDimension::group>("group", "", "of each device"),
  };
};

struct Map {
  std::vector<JsonScalar> ranks{}, devices{};
  std::vector<std::string> hosts{};
  std::vector<JsonScalar> host_of{}, steps{};
  int64_t all_devices = 0, all_steps = 0;
  std::vector<MapColumn> columns{};
  std::vector<MapDimension> layout{};
  static constexpr FieldInfo kFields[] = {
      Field<&Map::ranks>("ranks", "", "by device, as the following"),
      Field<&Map::devices>("devices", "", "numbers of the devices"),
      Field<&Map::hosts>("hosts", "", "machines"),
      Field<&Map::host_of>("host_of", "", "place in `hosts`"),
      Field<&Map::steps>("steps", "", "numbers of the steps"),
      Field<&Map::all_devices>("all_devices", "count", "devices of the job"),
      Field<&Map::all_steps>("all_steps", "count", "steps of the job"),
      Field<&Map::columns>("columns", "", "times, packed"),
      Field<&Map::layout>("layout", "", "where ranks differ in it", kUnlessEmpty),
  };
};

// Pairs of a name, which is a place in `texts`, and its time.
using PathPairs = std::vector<std::vector<int64_t>>;

struct PathOwners {
  PathPairs by_operator{}, by_kernel{}, by_module{}, by_thread{}, by_stream{}, by_collective{};
  static constexpr FieldInfo kFields[] = {
      Field<&PathOwners::by_operator>("operator", "", "operators, the one with most time first", kUnlessEmpty),
      Field<&PathOwners::by_kernel>("kernel", "", "kernels", kUnlessEmpty),
      Field<&PathOwners::by_module>("module", "", "modules", kUnlessEmpty),
      Field<&PathOwners::by_thread>("thread", "", "threads", kUnlessEmpty),
      Field<&PathOwners::by_stream>("stream", "", "streams", kUnlessEmpty),
      Field<&PathOwners::by_collective>("collective", "", "collectives", kUnlessEmpty),
  };
};

struct Path {
  int64_t total_ns = 0;
  PathPairs bounds{};
  PathOwners owners{};
  static constexpr FieldInfo kFields[] = {
      Field<&Path::total_ns>("total_ns", "ns", "duration of the steps"),
      Field<&Path::bounds>("bounds", "", "what the time is spent on"),
      Field<&Path::owners>("owners", "", "to whom it belongs"),
  };
};

struct Served {
  std::string run{};
  bool several = false, gauges = false;
  static constexpr FieldInfo kFields[] = {
      Field<&Served::run>("run", "", "id of the run"),
      Field<&Served::several>("several", "", "others are served beside it"),
      Field<&Served::gauges>("gauges", "", "GPUs were sampled", kUnlessEmpty),
  };
};

struct RunPage {
  Words page{};
  std::optional<Predicted> predicted{};
  std::optional<Path> path{};
  std::optional<documents::EnergyReport> energy{};
  std::vector<Rows> tables{};
  std::optional<Map> rank_map{};
  Served served{};
  std::vector<std::string> texts{};
  static constexpr FieldInfo kFields[] = {
      Field<&RunPage::page>("page", "", "what a terminal says, too"),
      Field<&RunPage::predicted>("predicted", "", "missing: nothing can be replayed"),
      Field<&RunPage::path>("path", "", "the critical path of the main rank; missing: nothing can be replayed"),
      Field<&RunPage::energy>("energy", "", "missing: the power of the GPUs is not known"),
      Field<&RunPage::tables>("tables", "", "tables that have rows"),
      Field<&RunPage::rank_map>("rank_map", "", "of a job of many ranks"),
      Field<&RunPage::served>("served", "", "how to ask for more"),
      Field<&RunPage::texts>("texts", "", "texts of the tables"),
  };
};

}  // namespace gapless::internal::report_form
