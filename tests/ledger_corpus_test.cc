// SPDX-License-Identifier: Apache-2.0
// Every recording of the corpus: the ledger adds up to the nanosecond, idle intervals add up to the ledger, rules run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyses/rows/host_steps.h"
#include "analyses/rows/idle.h"
#include "analyses/rows/ledger.h"
#include "analyses/rows/step_parts.h"
#include "diagnose/findings.h"
#include "ingest/load.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

fs::path Corpus() {
  const char* given = std::getenv("GAPLESS_CORPUS");
  return fs::path(given != nullptr ? given : "../shared/data") / "kineto";
}

Result<LoadedRun> Load(const fs::path& path) {
  OpenOptions options;
  options.use_cache = false;
  return LoadRun(std::vector{path.string()}, options);
}

template <class R>
int64_t SumOfRow(const TypedRows<R>& rows, size_t row,
                 std::initializer_list<typename TypedRows<R>::IntColumn> columns) {
  int64_t sum = 0;
  for (const auto column : columns) sum += rows.Int(row, column);
  return sum;
}

void ExpectAddsUp(Tables& tables) {
  const auto ledger = tables.Get<LedgerRows>();
  int64_t idle_in_ledger = 0;
  for (size_t row = 0; row < ledger.rows(); ++row) {
    EXPECT_EQ(SumOfRow(ledger, row, {"compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"}),
              ledger.Int(row, "wall_ns"));
    EXPECT_EQ(
        SumOfRow(ledger, row, {"idle_data_ns", "idle_launch_ns", "idle_sync_ns", "idle_host_ns", "idle_unknown_ns"}),
        ledger.Int(row, "idle_ns"));
    if (ledger.IsNull(row, "step")) idle_in_ledger += ledger.Int(row, "idle_ns");
  }
  const auto idle = tables.Get<IdleRows>();
  int64_t idle_in_gaps = 0, idle_in_parts = 0;
  for (size_t row = 0; row < idle.rows(); ++row) {
    idle_in_gaps += idle.Int(row, "dur_ns");
    idle_in_parts += SumOfRow(idle, row, {"data_ns", "launch_ns", "sync_ns", "host_ns", "unknown_ns"});
  }
  EXPECT_EQ(idle_in_gaps, idle_in_ledger);
  EXPECT_EQ(idle_in_parts, idle_in_ledger);
}

// The parts of a step add up to the ledger's whole window, and to the steps of processes without devices.
void ExpectPartsAddUp(Tables& tables) {
  int64_t expected = 0, found = 0;
  const auto ledger = tables.Get<LedgerRows>();
  for (size_t row = 0; row < ledger.rows(); ++row)
    if (ledger.IsNull(row, "step")) expected += ledger.Int(row, "wall_ns");
  const auto host = tables.Get<HostStepsRows>();
  for (size_t row = 0; row < host.rows(); ++row) expected += host.Int(row, "wall_ns");
  const auto parts = tables.Get<StepPartsRows>();
  for (size_t row = 0; row < parts.rows(); ++row) found += parts.Int(row, "time_ns");
  EXPECT_EQ(found, expected);
}

#ifdef GAPLESS_SANITIZED
constexpr size_t kTakeOneOf = 4;  // of the large ones: all of them would take seven minutes
constexpr int kMinRecordings = 30;
#else
constexpr size_t kTakeOneOf = 1;
constexpr int kMinRecordings = 60;
#endif

std::vector<fs::path> Recordings() {
  constexpr uintmax_t kLarge = 200'000;  // bytes, compressed
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(Corpus()))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  size_t large = 0;
  std::erase_if(paths, [&](const fs::path& path) { return fs::file_size(path) > kLarge && large++ % kTakeOneOf != 0; });
  return paths;
}

TEST(LedgerCorpus, AddsUpOnEveryRecordingAndEveryRuleRuns) {
  if (!fs::exists(Corpus())) GTEST_SKIP() << "no recordings at " << Corpus() << " (set GAPLESS_CORPUS)";
  int recordings = 0;
  for (const fs::path& path : Recordings()) {
    const Result<LoadedRun> loaded = Load(path);
    if (!loaded) continue;  // the corpus also holds files that are no traces
    ++recordings;
    SCOPED_TRACE(path.filename().string());
    Tables tables(loaded->run);
    ExpectAddsUp(tables);
    ExpectPartsAddUp(tables);
    const Diagnosis diagnosis = Diagnose(tables);
    EXPECT_TRUE(diagnosis.failures.empty());
    for (const Analysis* analysis : AllAnalyses()) {
      tables.Get(analysis->name);
      EXPECT_EQ(tables.ErrorOf(analysis->name), nullptr) << analysis->name;
    }
    const RunSummary summary = Summarise(tables, diagnosis);
    EXPECT_EQ(summary.run_class.empty(), summary.breakdown.empty());
  }
  EXPECT_GE(recordings, kMinRecordings);
}

class ResNet : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(Corpus())) GTEST_SKIP() << "no recordings at " << Corpus() << " (set GAPLESS_CORPUS)";
  }
  static fs::path Sample(const std::string& name) { return Corpus() / "pytorch__kineto/tb_plugin/samples" / name; }
};

TEST_F(ResNet, WithoutWorkersItIsBoundByItsInput) {
  const Result<LoadedRun> loaded = Load(Sample("resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"));
  ASSERT_TRUE(loaded);
  Tables tables(loaded->run);
  const Diagnosis diagnosis = Diagnose(tables);
  ASSERT_FALSE(diagnosis.bottlenecks.empty());
  EXPECT_EQ(diagnosis.bottlenecks[0].id, "data_loading");
  EXPECT_EQ(diagnosis.bottlenecks[0].evidence[0].source, "resnet50_profiler_api.py:42");
  EXPECT_EQ(Summarise(tables, diagnosis).run_class, "input bound");
}

TEST_F(ResNet, WithWorkersItIsNot) {
  const Result<LoadedRun> loaded = Load(Sample("resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"));
  ASSERT_TRUE(loaded);
  Tables tables(loaded->run);
  for (const Bottleneck& one : Diagnose(tables).bottlenecks) EXPECT_NE(one.id, "data_loading");
}

// The gain that the recorded pairs showed after the loader got workers lies within what was predicted before.
TEST_F(ResNet, ThePredictedGainOfWorkersHoldsOnTheRecordedPairs) {
  for (const auto& [before, after] :
       {std::pair{"resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
                  "resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"},
        std::pair{"resnet50_num_workers_0/worker0.pt.trace.json.gz", "resnet50_num_workers_4/worker0.pt.trace.json.gz"},
        std::pair{"resnet50_autograd_api_num_workers_0/worker0.pt.trace.json.gz",
                  "resnet50_autograd_api_num_workers_4/worker0.pt.trace.json.gz"}}) {
    const Result<LoadedRun> slow = Load(Sample(before)), fast = Load(Sample(after));
    ASSERT_TRUE(slow && fast);
    Tables slow_tables(slow->run), fast_tables(fast->run);
    const Diagnosis diagnosis = Diagnose(slow_tables);
    const double measured = static_cast<double>(Summarise(slow_tables, diagnosis).step_ns->median) /
                            static_cast<double>(Summarise(fast_tables, Diagnose(fast_tables)).step_ns->median);
    const auto found = std::find_if(diagnosis.bottlenecks.begin(), diagnosis.bottlenecks.end(),
                                    [](const auto& one) { return one.id == "data_loading"; });
    ASSERT_NE(found, diagnosis.bottlenecks.end()) << before;
    EXPECT_LE(found->gain->low, measured) << before;
    EXPECT_GE(found->gain->high, measured) << before;
  }
}

}  // namespace
}  // namespace gapless::internal
