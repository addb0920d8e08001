// SPDX-License-Identifier: Apache-2.0
// Everything from bytes to reports on arbitrary input: analyses, rules, renderers, writers and SQL must take any trace
// a reader makes, the ledger must add up in each, and what is converted reads back with as many rows.
#include <cstdlib>

#include "analyses/rows/ledger.h"
#include "convert/testing/in_memory.h"
#include "convert/writer.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"
#include "predict/advice.h"
#include "predict/critical_path.h"
#include "predict/sweep.h"
#include "query/database.h"
#include "report/explain.h"
#include "report/renderer.h"

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

void CheckLedger(const gapless::internal::LedgerRows& ledger) {
  for (size_t row = 0; row < ledger.rows(); ++row) {
    const auto ns = [&](gapless::internal::LedgerRows::IntColumn column) { return ledger.Int(row, column); };
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
  Check(0 < found.gain->low && found.gain->low <= found.gain->expected && found.gain->expected <= found.gain->high);
}

void CheckConversion(const gapless::internal::Run& run, gapless::internal::Tables& tables,
                     const gapless::internal::Advice& advice, gapless::internal::ThreadPool& pool) {
  gapless::internal::testing::InMemory document;
  const gapless::internal::WriteInput input{.run = run, .traces = run.primary(), .tables = &tables, .advice = &advice};
  Check(gapless::internal::FindWriter("chrome")->write(input, document).has_value());
  gapless::internal::MemorySource source(document.text());
  const auto again = gapless::internal::ReadTrace(source, {.pool = pool});
  const gapless::internal::Trace& before = *run.traces()[0].trace;
  Check(again.has_value() && again->slices.size() == before.slices.size() &&
        again->gpu_ops.size() == before.gpu_ops.size() && again->syncs.size() == before.syncs.size() &&
        again->flows.size() == before.flows.size() && again->collectives.size() == before.collectives.size());
}

// Whatever passes the self-check has an answer to every what-if.
void CheckPredictions(const gapless::internal::Advice& advice) {
  const auto& predictor = advice.predictor();
  if (!predictor || !predictor->check().accepted()) return;
  for (const gapless::internal::Fix* fix : gapless::internal::FixesWithModel()) {
    if (fix->model.needs_value()) continue;
    const auto prediction = predictor->Predict({{.name = std::string(fix->name)}});
    Check(prediction.has_value());
    const auto& share = prediction->share;
    Check(!prediction->refusal.empty() ||
          (0 < share.low && share.low <= share.expected && share.expected <= share.high));
  }
  const auto& rank = predictor->main_rank();
  const auto path = gapless::internal::FindCriticalPath(rank, gapless::internal::RecordedEdges(rank.graph),
                                                        gapless::internal::Replay(rank.graph));
  int64_t total = 0;
  for (const auto& part : path.parts) total += part.end_ns - part.start_ns;
  Check(total == path.total_ns);
  for (const auto by : {gapless::internal::SweepBy::kKernel, gapless::internal::SweepBy::kThread})
    (void)gapless::internal::Sweep(*predictor, by, 3);
}

class Drain : public gapless::internal::RowSink {
 public:
  void Columns(std::span<const std::string>) override {}
  bool Row(std::span<const gapless::internal::SqlValue>) override { return ++rows_ < 1000; }

 private:
  int rows_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static gapless::internal::ThreadPool pool(2);
  gapless::internal::MemorySource source(std::string(reinterpret_cast<const char*>(data), size));
  auto trace = gapless::internal::ReadTrace(source, {.pool = pool});
  if (!trace) return 0;
  const gapless::internal::Run run({std::make_shared<gapless::internal::Trace>(std::move(*trace))});
  gapless::internal::Tables tables(run);
  for (const gapless::internal::Analysis* analysis : gapless::internal::AllAnalyses()) {
    (void)tables.Get(analysis->name);
    Check(tables.ErrorOf(analysis->name) == nullptr);
  }
  CheckLedger(tables.Get<gapless::internal::LedgerRows>());
  const gapless::internal::Advice advice(tables);
  const gapless::internal::Diagnosis& diagnosis = advice.diagnosis();
  CheckPredictions(advice);
  Check(diagnosis.failures.empty());
  for (const gapless::Bottleneck& found : diagnosis.bottlenecks) CheckBottleneck(found);
  const gapless::internal::Findings findings = advice.Conclude({});
  gapless::internal::Report report{run, tables, diagnosis, findings.summary, {}};
  if (findings.summary.together) report.pictures = advice.Draw(*findings.summary.together);
  for (const gapless::internal::Renderer* renderer : gapless::internal::AllRenderers())
    for (const int width : {40, 80, 160})
      Check(!renderer->render(report, {.width = width, .verbose = width > 40}).empty());
  for (const gapless::internal::Rule* rule : gapless::internal::AllRules())
    Check(!gapless::internal::ExplainText(report, *rule, {}).empty() &&
          !gapless::internal::ExplainJson(report, *rule).empty());
  CheckConversion(run, tables, advice, pool);
  auto database = gapless::internal::Database::Open(run, tables);
  Check(database.has_value());
  for (const gapless::internal::SqlTableInfo& table : gapless::internal::DescribeSqlTables()) {
    Drain drain;
    Check(database->Query("SELECT * FROM " + std::string(table.name), drain).has_value());
  }
  return 0;
}
