// SPDX-License-Identifier: Apache-2.0
// Tests of ThreadPool: each item runs once, also with no thread, and waiting ends.
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stdexcept>

namespace gapless::internal {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> runs(1000);
  pool.ParallelFor(runs.size(), [&](size_t i) { ++runs[i]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(ThreadPool, ParallelForOfNothingReturns) {
  ThreadPool pool(2);
  pool.ParallelFor(0, [](size_t) { FAIL(); });
}

TEST(ThreadPool, WaitReturnsWhenAllIsDone) {
  ThreadPool pool(2);
  std::atomic<int> done = 0;
  for (int i = 0; i < 50; ++i) pool.Submit([&] { ++done; });
  pool.Wait();
  EXPECT_EQ(done, 50);
}

TEST(ThreadPool, DestructionFinishesWhatWasSubmitted) {
  std::atomic<int> done = 0;
  {
    ThreadPool pool(1);
    for (int i = 0; i < 50; ++i) pool.Submit([&] { ++done; });
  }
  EXPECT_EQ(done, 50);
}

TEST(ThreadPool, WorksOnItsOwnThreadsSideBySide) {
  ThreadPool pool(2);
  std::atomic<int> waiting = 0;
  std::atomic<bool> met = false;
  pool.ParallelFor(2, [&](size_t) {  // each waits for the other: one thread alone would never get here twice
    if (++waiting == 2) met = true;
    while (!met) std::this_thread::yield();
  });
  EXPECT_TRUE(met);
}

// Runs loops in which one index has no memory.
void ExpectThatAFailureArrives(ThreadPool& pool) {
  for (int round = 0; round < 50; ++round)
    EXPECT_THROW(pool.ParallelFor(100,
                                  [](size_t i) {
                                    if (i == 37) throw std::bad_alloc();
                                  }),
                 std::bad_alloc);
  std::atomic<int> done = 0;
  pool.ParallelFor(100, [&](size_t) { ++done; });  // the pool works on
  EXPECT_EQ(done, 100);
}

TEST(ThreadPool, RethrowsWhereTheLoopWasStarted) {
  for (const size_t threads : {1, 3}) {
    ThreadPool pool(threads);
    ExpectThatAFailureArrives(pool);
  }
}

TEST(ThreadPool, BeginsNoFurtherIndexAfterAFailure) {
  ThreadPool pool(1);
  std::atomic<int> begun = 0;
  EXPECT_THROW(pool.ParallelFor(100,
                                [&](size_t i) {
                                  ++begun;
                                  if (i == 4) throw std::runtime_error("stop");
                                }),
               std::runtime_error);
  EXPECT_EQ(begun, 5);
}

TEST(ThreadPool, WaitRethrowsOnceAndAfterAllWork) {
  ThreadPool pool(2);
  std::atomic<int> done = 0;
  pool.Submit([] { throw std::bad_alloc(); });
  for (int i = 0; i < 50; ++i) pool.Submit([&] { ++done; });
  EXPECT_THROW(pool.Wait(), std::bad_alloc);
  EXPECT_EQ(done, 50);
  pool.Wait();
}

TEST(ThreadPool, DestructionDropsAFailureThatNobodyWaitedFor) {
  ThreadPool pool(2);
  pool.Submit([] { throw std::bad_alloc(); });
}

#ifndef GAPLESS_SANITIZED  // which need more address space than there is

// In a process of its own, which may map only that much more memory.
void SumWithin(rlim_t more_bytes, size_t most_threads) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlimit limit{pages * 4096 + more_bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  ThreadPool pool(500);
  std::atomic<size_t> sum = 0;
  pool.ParallelFor(100, [&](size_t i) { sum += i; });
  std::_Exit(pool.size() <= most_threads && sum == 4950 ? 0 : 1);
}

// The same of a loop that fails.
void FailWithoutThreads() {
  const rlimit none{1, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  ThreadPool pool(8);
  if (pool.size() > 0) std::_Exit(1);
  try {
    pool.ParallelFor(100, [](size_t) { throw std::bad_alloc(); });
  } catch (const std::bad_alloc&) {
    std::_Exit(0);
  }
}

TEST(ThreadPoolDeathTest, AFailureArrivesAlsoWithoutThreads) {
  EXPECT_EXIT(FailWithoutThreads(), testing::ExitedWithCode(0), "");
}

TEST(ThreadPoolDeathTest, DoesTheWorkWithTheThreadsThatTheSystemAllows) {
  EXPECT_EXIT(SumWithin(rlim_t{100} << 20, 20), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(SumWithin(rlim_t{1} << 20, 0), testing::ExitedWithCode(0), "");
}

#endif

class DefaultThreadsTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("GAPLESS_THREADS"); }
};

TEST_F(DefaultThreadsTest, FollowsTheEnvironment) {
  setenv("GAPLESS_THREADS", "3", 1);
  EXPECT_EQ(DefaultThreads(), 3U);
  EXPECT_EQ(ThreadPool().size(), 3U);
}

TEST_F(DefaultThreadsTest, IgnoresNonsense) {
  unsetenv("GAPLESS_THREADS");
  const size_t machine = DefaultThreads();
  EXPECT_GE(machine, 1U);
  for (const char* text : {"0", "-2", "many", "", "99999999"}) {
    setenv("GAPLESS_THREADS", text, 1);
    EXPECT_EQ(DefaultThreads(), machine) << text;
  }
}

}  // namespace
}  // namespace gapless::internal
