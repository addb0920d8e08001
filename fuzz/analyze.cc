// SPDX-License-Identifier: Apache-2.0
// Everything from bytes to reports on arbitrary input: analyses, rules, renderers and SQL must take any trace a reader
// makes, and the ledger must add up in each.
#include <cstdlib>

#include "diagnose/summary.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "query/database.h"
#include "report/explain.h"
#include "report/renderer.h"

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

void CheckLedger(const gapless::Table& ledger) {
  for (size_t row = 0; row < ledger.rows(); ++row) {
    const auto ns = [&](std::string_view column) { return ledger.Int(row, column); };
    Check(ns("compute_ns") + ns("exposed_comm_ns") + ns("exposed_copy_ns") + ns("idle_ns") == ns("wall_ns"));
    Check(ns("idle_data_ns") + ns("idle_launch_ns") + ns("idle_sync_ns") + ns("idle_host_ns") + ns("idle_unknown_ns") ==
          ns("idle_ns"));
  }
}

void CheckBottleneck(const gapless::Bottleneck& found) {
  Check(found.severity >= 0 && found.severity <= 1);
  Check(!found.share_of_step || (*found.share_of_step >= 0 && *found.share_of_step <= 1));
  Check(!found.title.empty() && !found.evidence.empty() && !found.recommendations.empty());
  if (!found.gain) return;
  Check(1 <= found.gain->low && found.gain->low <= found.gain->expected && found.gain->expected <= found.gain->high);
}

class Drain : public gapless::RowSink {
 public:
  void Columns(std::span<const std::string>) override {}
  bool Row(std::span<const gapless::SqlValue>) override { return ++rows_ < 1000; }

 private:
  int rows_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static gapless::ThreadPool pool(2);
  gapless::MemorySource source(std::string(reinterpret_cast<const char*>(data), size));
  auto trace = gapless::ReadTrace(source, {.pool = pool});
  if (!trace) return 0;
  const gapless::Run run({std::make_shared<gapless::Trace>(std::move(*trace))});
  gapless::Tables tables(run);
  for (const gapless::Analysis* analysis : gapless::AllAnalyses()) {
    (void)tables.Get(analysis->name);
    Check(tables.ErrorOf(analysis->name) == nullptr);
  }
  CheckLedger(tables.Get("ledger"));
  const gapless::Diagnosis diagnosis = gapless::Diagnose(tables);
  Check(diagnosis.failures.empty());
  for (const gapless::Bottleneck& found : diagnosis.bottlenecks) CheckBottleneck(found);
  const gapless::RunSummary summary = gapless::Summarise(tables, diagnosis);
  const gapless::Report report{run, tables, diagnosis, summary, {}};
  for (const gapless::Renderer* renderer : gapless::AllRenderers())
    for (const int width : {40, 80, 160})
      Check(!renderer->render(report, {.width = width, .verbose = width > 40}).empty());
  for (const gapless::Rule* rule : gapless::AllRules())
    Check(!gapless::ExplainText(report, *rule, {}).empty() && !gapless::ExplainJson(report, *rule).empty());
  auto database = gapless::Database::Open(run, tables);
  Check(database.has_value());
  for (const gapless::SqlTableInfo& table : gapless::DescribeSqlTables()) {
    Drain drain;
    Check(database->Query("SELECT * FROM " + std::string(table.name), drain).has_value());
  }
  return 0;
}
