// SPDX-License-Identifier: Apache-2.0
// Tests the choice of the best setting on simulated jobs with known times.
#include "optimize/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimize/testing/simulated_job.h"

namespace gapless::internal {
namespace {

const FixContext kTwo{.cpus = 2}, kEight{.cpus = 8}, kGpu{.cpus = 8, .gpu = true, .compute_major = 9};

Result<TuneTable> Ask(SimulatedJob& job, const std::vector<TuneColumn>& columns, TuneOptions options = {}) {
  return Tune(columns, options, job, [](const std::string&) {});
}

const TuneRow& RowOf(const TuneTable& table, const std::string& set) {
  const auto found = std::ranges::find_if(table.rows, [&](const TuneRow& row) { return row.set.ToString() == set; });
  EXPECT_NE(found, table.rows.end()) << set;
  return *found;
}

std::string BestOf(const TuneTable& table) {
  return table.best == 0 ? "as it is" : table.rows[table.best].set.ToString();
}

TEST(Tuning, FindsTheFewestWorkersThatAreAsGoodAsAny) {
  SimulatedJob job(1);
  job.fixes["workers=0"].refusal = "a DataLoader has num_workers=0 already";
  job.fixes["workers=1"].factor = 0.8;
  job.fixes["workers=2"].factor = 0.5;
  job.fixes["workers=4"].factor = 0.495;
  job.fixes["workers=8"].factor = 0.7;
  const auto table = Ask(job, LoaderSettings(kEight, false));
  ASSERT_TRUE(table);
  EXPECT_EQ(BestOf(*table), "workers=2");
  EXPECT_EQ(RowOf(*table, "workers=0").why_not, "a DataLoader has num_workers=0 already");
  const RatioInterval speedup = table->rows[table->best].Speedup();
  EXPECT_GT(speedup.low.value_or(0), 1);
  EXPECT_NEAR(speedup.expected, 2, 0.1);
  EXPECT_FALSE(table->was_short_of_time);
}

TEST(Tuning, MoreWorkersThanProcessorsAreClimbedWhileTheyBringSomething) {
  SimulatedJob waits(11);
  for (const auto& [workers, factor] : {std::pair{"2", 0.5}, {"4", 0.26}, {"8", 0.15}, {"16", 0.149}, {"32", 0.148}})
    waits.fixes[StrCat("workers=", workers)].factor = factor;
  const auto table = Ask(waits, LoaderSettings(kTwo, false));
  ASSERT_TRUE(table);
  EXPECT_EQ(BestOf(*table), "workers=8");
  EXPECT_EQ(RowOf(*table, "workers=32").why_not, "not tried: the one before it brought nothing more");
  SimulatedJob computes(12);
  computes.fixes["workers=1"].factor = 0.6, computes.fixes["workers=2"].factor = 0.5;
  computes.fixes["workers=4"].factor = 0.5;
  const auto other = Ask(computes, LoaderSettings(kTwo, false));
  ASSERT_TRUE(other);
  EXPECT_EQ(BestOf(*other), "workers=2");
  EXPECT_EQ(RowOf(*other, "workers=8").why_not, "not tried: the one before it brought nothing more");
}

TEST(Tuning, WhatBringsNothingStaysAsItIs) {
  SimulatedJob job(2);
  job.fixes["workers=1"].factor = 1.2;
  job.fixes["workers=2"].factor = 2;
  const auto table = Ask(job, LoaderSettings(kTwo, false));
  ASSERT_TRUE(table);
  EXPECT_EQ(BestOf(*table), "as it is");
  EXPECT_EQ(RowOf(*table, "workers=2").runs.size(), 1U) << "twice as slow: one run is enough";
}

// At most the error rate of 200 jobs, in which no setting has an effect, may report a faster one.
TEST(Tuning, SaysThatNothingIsFasterWhereNothingIs) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedJob job(seed, 0.03);
    TuneOptions options;
    options.seed = seed;
    const auto table = Ask(job, LoaderSettings(kEight, false), options);
    ASSERT_TRUE(table);
    wrong += table->best != 0 ? 1 : 0;
  }
  EXPECT_LE(wrong, 10);
}

TEST(Tuning, AFailureIsLeftOutWithItsReason) {
  SimulatedJob job(3);
  job.fixes["workers=1"].fault = Fault::kCrash;
  job.fixes["workers=2"].factor = 0.5;
  const auto table = Ask(job, LoaderSettings(kTwo, false));
  ASSERT_TRUE(table);
  EXPECT_EQ(BestOf(*table), "workers=2");
  EXPECT_NE(RowOf(*table, "workers=1").why_not.find("ValueError: no"), std::string::npos);
}

// Twice the samples in 1.5 times the time, four times in 2.5 times; eight times as many do not fit.
SimulatedJob Batches(uint64_t seed) {
  SimulatedJob job(seed);
  job.samples = 32;
  job.memory_bytes = 10e9;
  double factor = 1;
  for (int k = 2; k <= 1024; k *= 2) {
    factor = k <= 4 ? factor * 1.5 + (k == 4 ? 0.25 : 0) : factor * 2;
    job.fixes[StrCat("batch=", k)] = {
        .factor = factor, .samples = static_cast<double>(k), .memory = static_cast<double>(k)};
  }
  return job;
}

TEST(Tuning, ClimbsBatchesByTheTimeOfASample) {
  SimulatedJob job = Batches(4);
  TuneOptions options;
  options.by_samples = true;
  const auto table = Ask(job, BatchSettings(kTwo), options);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->by_samples);
  EXPECT_EQ(BestOf(*table), "batch=4");
  EXPECT_NEAR(table->rows[table->best].Speedup().expected, 1.6, 0.1);
  EXPECT_EQ(RowOf(*table, "batch=32").why_not, "not tried: the 2 before it brought nothing more");
}

TEST(Tuning, StopsWhereTheMemoryEnds) {
  SimulatedJob job = Batches(5);
  job.fixes["amp=bf16"] = {.factor = 0.5, .memory = 0.6};
  TuneOptions options;
  options.by_samples = true;
  options.memory_limit_bytes = 30e9;  // a tenth of it stays free, so 27
  const auto table = Ask(job, BatchSettings(kGpu), options);
  ASSERT_TRUE(table);
  EXPECT_TRUE(RowOf(*table, "batch=2").IsUsable());
  EXPECT_NE(RowOf(*table, "batch=4").why_not.find("a tenth of the GPU's memory"), std::string::npos);
  EXPECT_EQ(RowOf(*table, "batch=8").why_not, "not tried: a smaller one could not be used");
  EXPECT_EQ(BestOf(*table), "batch=4, amp=bf16") << "mixed precision makes room";
}

TEST(Tuning, BatchesWithoutSamplesAreNotCompared) {
  SimulatedJob job(6);
  TuneOptions options;
  options.by_samples = true;
  const auto table = Ask(job, BatchSettings(kTwo), options);
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("samples"), std::string::npos);
}

TEST(Tuning, ASettingThatLosesItsSamplesIsLeftOut) {
  SimulatedJob job(8);
  job.samples = 32;
  job.fixes["workers=1"] = {.factor = 0.5, .samples = 0};
  const auto table = Ask(job, LoaderSettings(kTwo, false));
  ASSERT_TRUE(table);
  EXPECT_EQ(RowOf(*table, "workers=1").why_not, "how many samples its steps have is not known");
  EXPECT_EQ(BestOf(*table), "as it is");
}

TEST(Tuning, EndsWithTheBudgetAndWithTheUser) {
  SimulatedJob job(7);
  job.fixes["workers=1"].factor = 0.5;
  TuneOptions options;
  options.budget_s = 0;
  const auto table = Ask(job, LoaderSettings(kTwo, false), options);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->was_short_of_time);
  EXPECT_EQ(table->best, 0U);
  job.interrupt_at = job.runs + 4;
  const auto interrupted = Ask(job, LoaderSettings(kTwo, false));
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().code, ErrorCode::kInterrupted);
}

TEST(Tuning, TheGridAlsoPinsAndLoadsFurtherAhead) {
  const auto all = LoaderSettings(kGpu, true);
  ASSERT_EQ(all.size(), 1U);
  std::vector<std::string> names;
  for (const FixSet& set : all[0].settings) names.push_back(set.ToString());
  for (const char* letter : {"workers=0", "workers=8", "workers=4, pin", "workers=4, prefetch_factor=8, pin"}) {
    auto words = Split(letter, ',');
    EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string& name) {
      return Split(name, ',').size() == words.size() && name.find(words[0]) != name.npos;
    })) << letter;
  }
  EXPECT_EQ(names[all[0].first_rung], "workers=16") << "more than processors: climbed while it brings something";
}

}  // namespace
}  // namespace gapless::internal
