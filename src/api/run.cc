// SPDX-License-Identifier: Apache-2.0
// Implements opening a run and asking it for tables. Everything is a thin layer over ingest (LoadRun), query (SQL) and
// find_table.cc; the shared state of a Run is RunState.
#include "gapless/run.h"

#include "api/run_state.h"
#include "api/table_data.h"
#include "cluster/condense.h"
#include "ingest/load.h"
#include "ingest/redaction.h"
#include "ingest/source_root.h"

namespace gapless {
namespace {

// Hands rows of a query to the caller's visitor, reusing the same vectors for every row.
class VisitorSink : public internal::RowSink {
 public:
  explicit VisitorSink(const RowVisitor& visit) : visit_(visit) {}
  void Columns(std::span<const std::string> names) override {
    names_.assign(names.begin(), names.end());
    cells_.resize(names.size());
  }
  bool Row(std::span<const internal::SqlValue> cells) override {
    for (size_t i = 0; i < cells.size(); ++i) cells_[i] = internal::CellOf(cells[i]);
    return visit_(names_, cells_);
  }

 private:
  const RowVisitor& visit_;
  std::vector<std::string> names_;
  std::vector<Cell> cells_;
};

Result<Table> AsTable(Result<internal::TableDataPtr> data) {
  if (!data) return Unexpected{std::move(data.error())};
  return internal::TableData::AsTable(std::move(*data));
}

}  // namespace

Run::Run(std::shared_ptr<const internal::RunState> state) : state_(std::move(state)) {}

Result<Run> Run::Open(std::span<const std::string> paths, const OpenOptions& options) {
  auto loaded = internal::LoadRun(paths, options);
  if (!loaded) return Unexpected{std::move(loaded.error())};
  if (!options.source_root.empty()) {
    auto mapped = internal::MapSources(*loaded, options.source_root);
    if (!mapped) return Unexpected{std::move(mapped.error())};
  }
  if (options.redact) internal::Redaction().Apply(*loaded);
  auto condensed = internal::AllCondensed(loaded->run);
  if (!condensed) return Unexpected{std::move(condensed.error())};
  loaded->run = *std::move(condensed);
  auto state = std::make_shared<const internal::RunState>(std::move(*loaded), options);
  // Catches a stop that came after the last time LoadRun() looked.
  if (state->stop.is_set()) return internal::Fail(ErrorCode::kInterrupted, "interrupted");
  return Run(std::move(state));
}

const std::vector<Error>& Run::Failures() const { return state_->analysis.loaded().failures; }

std::vector<TableInfo> Run::Tables() {
  std::vector<TableInfo> all;
  for (const internal::SqlTableInfo& table : internal::DescribeSqlTables())
    all.push_back(
        {std::string(table.name), std::string(table.help), table.is_analysis, internal::ColumnsOf(table.columns)});
  return all;
}

Result<Table> Run::Table(std::string_view name) const { return AsTable(internal::FindTable(state_, name)); }

Result<Table> Run::Query(std::string_view sql) const { return AsTable(internal::RunQuery(*state_, sql)); }

Result<void> Run::Query(std::string_view sql, const RowVisitor& visit) const {
  if (!visit) return internal::Fail(ErrorCode::kUsage, "a query needs a visitor, or is called without the argument");
  VisitorSink sink(visit);
  return state_->Query(sql, sink);
}

}  // namespace gapless
