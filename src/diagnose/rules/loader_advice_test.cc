// SPDX-License-Identifier: Apache-2.0
// The advice for a loader whose workers do not keep up depends on the processors that the machine has.
#include <gtest/gtest.h>

#include <string>

#include "analyses/testing/hand_made.h"
#include "diagnose/evidence.h"
#include "trace/formats.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;

// Returns the advice for a program with `workers` loader workers on a machine with `processors`; "": not recorded.
Recommendation AdviceFor(const std::string& workers, const std::string& processors) {
  HandMade trace;
  for (int64_t step = 0; step < 4; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000, 300);
  if (!workers.empty()) trace.Environment("loader.0", R"({"num_workers":)" + workers + "}");
  if (!processors.empty()) trace.Environment("host.cpu.count", processors);
  Analysed run(trace);
  return OtherWorkers(run.tables(), "train.py:41");
}

TEST(LoaderAdvice, FewerWorkersWhereTheyTakeTheProcessorsOfTheTraining) {
  const Recommendation advice = AdviceFor("4", "2");
  EXPECT_EQ(advice.fix, "workers=0");
  EXPECT_NE(advice.text.find("4 workers and the training share 2 processors in train.py:41"), std::string::npos)
      << advice.text;
  EXPECT_EQ(AdviceFor("2", "2").fix, "workers=0") << "the training itself needs a processor";
}

TEST(LoaderAdvice, MoreWorkersWhereProcessorsAreIdle) {
  EXPECT_EQ(AdviceFor("1", "8").fix, "workers=7");
  EXPECT_EQ(AdviceFor("4", "96").fix, "workers=16") << "more are rarely of use";
  EXPECT_EQ(AdviceFor("20", "96").fix, "workers=21");
}

TEST(LoaderAdvice, NamesBothWaysWhereEitherMayHelp) {
  EXPECT_EQ(AdviceFor("3", "4").fix, "workers") << "each worker has a processor, and so has the training";
  EXPECT_EQ(AdviceFor("4", "").fix, "workers");
  EXPECT_EQ(AdviceFor("", "8").fix, "workers");
}

// The line is one of a library, which nobody edits.
TEST(LoaderAdvice, OfATrainerIsItsArgument) {
  EXPECT_EQ(InLoaderLine("accelerate/data_loader.py:598"),
            " in accelerate/data_loader.py:598 (with a Trainer: dataloader_num_workers of its TrainingArguments)");
  EXPECT_EQ(InLoaderLine("train.py:41"), " in train.py:41");
  EXPECT_EQ(InLoaderLine(""), "");
}

// Lightning reads two batches of the validation before the training begins.
TEST(LoaderAdvice, TheWorkersAreThoseOfTheTrainingsLoader) {
  HandMade trace;
  for (int64_t step = 0; step < 4; ++step) trace.AgentStep(step, step * 1000, step * 1000 + 1000, 300);
  trace.Environment("loader.0", R"({"num_workers":0,"sampler":"SequentialSampler"})");
  trace.Environment("loader.1", R"({"num_workers":4,"sampler":"RandomSampler"})");
  trace.Environment("host.cpu.count", "2");
  Analysed run(trace);
  const Recommendation advice = OtherWorkers(run.tables(), "train.py:41");
  EXPECT_NE(advice.text.find("4 workers and the training share 2 processors"), std::string::npos) << advice.text;
}

// Two workers, started for each of three passes, whose files our agent wrote.
TEST(LoaderAdvice, WorkersThatAreStartedAnewAreKept) {
  HandMade main;
  for (int64_t step = 0; step < 4; ++step) main.AgentStep(step, step * 1000, step * 1000 + 1000, 300);
  main.Process(10, 1000).Annotation("Python GC", 0, 4000);
  main.Environment("loader.0", R"({"num_workers":2,"persistent_workers":false})");
  std::vector<std::shared_ptr<const Trace>> all = {main.Finish()};
  for (int64_t pid = 1; pid <= 6; ++pid) {
    HandMade worker;
    worker.Process(10 + pid, 1000 + 500 * pid).Environment(std::string(kAgentRoleKey), std::string(kRoleLoads));
    worker.Annotation("Python GC", 0, 100);
    all.push_back(worker.Finish());
  }
  Analysed run(all);
  const Recommendation advice = OtherWorkers(run.tables(), "train.py:41");
  EXPECT_NE(advice.text.find("3 times in this run: keep them (persistent_workers=True)"), std::string::npos)
      << advice.text;
}

}  // namespace
}  // namespace gapless::internal
