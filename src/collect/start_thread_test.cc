// SPDX-License-Identifier: Apache-2.0
// A system without a thread to spare costs what the thread was for, not the run.
#include "collect/start_thread.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include "collect/files.h"
#include "collect/metrics_server.h"
#include "collect/private_files.h"
#include "collect/telemetry/fetcher.h"
#include "collect/telemetry/sampler.h"

namespace gapless::internal {
namespace {

class WithoutThreads : public ::testing::Test {
 protected:
  // Stacks that no memory has room for.
  void SetUp() override {
    ASSERT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t large;
    ASSERT_EQ(pthread_getattr_default_np(&large), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&large, size_t{1} << 47), 0);
    ASSERT_EQ(pthread_setattr_default_np(&large), 0);
    pthread_attr_destroy(&large);
  }
  void TearDown() override {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  pthread_attr_t before_;
};

TEST_F(WithoutThreads, TelemetryIsAnError) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  const Descriptor open = OpenFolder(AT_FDCWD, folder->path());
  TelemetrySampler sampler;
  const auto started = sampler.Start(MakeFileIn(open.get(), "t.gts"), "t.gts", {.collectors = {"host"}});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kEnvironment);
  EXPECT_FALSE(started.error().hint.empty());
}

TEST_F(WithoutThreads, MetricsAndExportersAreErrors) {
  EXPECT_FALSE(MetricsServer::Start("127.0.0.1:0", [] { return std::string(); }));
  EXPECT_FALSE(Fetcher::Start("http://127.0.0.1:9/metrics", 1000));
}

}  // namespace
}  // namespace gapless::internal
