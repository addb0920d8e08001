// SPDX-License-Identifier: Apache-2.0
// Measures the runs per second that one process records, twelve metrics each, half of them with fifty samples, and the
// runs per second that it reads. A record counts when it is on the disk.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "base/strings.h"
#include "store/history.h"
#include "store/testing/server.h"

namespace gapless::internal {
namespace {

BenchmarkRecord Sample() {
  BenchmarkRecord record;
  record.branch = "main";
  record.commit_sha = "0123456789abcdef0123456789abcdef01234567";
  for (int i = 0; i < 12; ++i) {
    MetricRecord metric{StrCat("metric ", i), i + 0.5, "s", false, Sampling::kIteration, {}};
    if (i % 2 == 0) metric.samples.assign(50, i + 0.25);
    record.metrics.push_back(metric);
  }
  return record;
}

void Measure(benchmark::State& state, const std::string& url) {
  auto history = History::Open(url);
  if (!history) return state.SkipWithError(history.error().ToString().c_str());
  const BenchmarkRecord record = Sample();
  for ([[maybe_unused]] const auto turn : state)
    if (!history->Record(record)) return state.SkipWithError("not recorded");
  state.SetItemsProcessed(state.iterations());
}

void RecordInSqlite(benchmark::State& state) {
  std::string pattern = (std::filesystem::temp_directory_path() / "gapless-bench-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  Measure(state, StrCat("sqlite:", folder, "/history.db"));
  std::filesystem::remove_all(folder);
}
BENCHMARK(RecordInSqlite)->UseRealTime();

void RecordInPostgres(benchmark::State& state) {
  std::string why;
  static const auto server = testing::PostgresServer::Start(why);
  if (server == nullptr) return state.SkipWithError(why.c_str());
  Measure(state, server->NewDatabase());
}
BENCHMARK(RecordInPostgres)->UseRealTime();

void ListTenThousand(benchmark::State& state) {
  std::string pattern = (std::filesystem::temp_directory_path() / "gapless-bench-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  auto history = History::Open(StrCat("sqlite:", folder, "/history.db"));
  if (!history || !history->RecordAll(std::vector<BenchmarkRecord>(10'000, Sample())))
    return state.SkipWithError("not recorded");
  for ([[maybe_unused]] const auto turn : state) benchmark::DoNotOptimize(history->List({}));
  state.SetItemsProcessed(state.iterations() * 10'000);
  std::filesystem::remove_all(folder);
}
BENCHMARK(ListTenThousand)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gapless::internal
