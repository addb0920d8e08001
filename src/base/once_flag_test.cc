// SPDX-License-Identifier: Apache-2.0
// Tests of OnceFlag: one run for all callers, and an exception for each of them.
#include "base/once_flag.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "base/thread_pool.h"

namespace gapless::internal {
namespace {

TEST(OnceFlag, RunsForTheFirstCallerOnly) {
  OnceFlag once;
  std::atomic<int> runs = 0;
  ThreadPool pool(4);
  pool.ParallelFor(100, [&](size_t) {
    once.Call([&] { ++runs; });
    EXPECT_EQ(runs, 1) << "no caller goes on before it is done";
  });
}

TEST(OnceFlag, EveryCallerGetsTheException) {
  OnceFlag once;
  std::atomic<int> runs = 0, thrown = 0;
  ThreadPool pool(4);
  pool.ParallelFor(100, [&](size_t) {
    try {
      once.Call([&] {
        ++runs;
        throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      ++thrown;
    }
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(thrown, 100);
}

}  // namespace
}  // namespace gapless::internal
