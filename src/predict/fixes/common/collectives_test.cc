// SPDX-License-Identifier: Apache-2.0
// Tests the fit of the link's latency and bandwidth, and the detection of gradient collectives.
#include "predict/fixes/common/collectives.h"

#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::kUs;
using testing::Program;

TEST(FitLink, TwoSizesTellLatencyAndSpeed) {
  const LinkSample samples[] = {{1e6, 150'000}, {4e6, 450'000}, {4e6, 700'000}};
  const LinkSpeed link = FitLink(samples);
  EXPECT_TRUE(link.is_fitted);
  EXPECT_NEAR(link.latency_ns, 50'000, 1) << "the longer one of 4 MB waited";
  EXPECT_NEAR(link.ns_per_byte, 0.1, 1e-9);
}
TEST(FitLink, OneSizeTakesTheUsualLatency) {
  const LinkSample samples[] = {{1e6, 120'000}};
  const LinkSpeed link = FitLink(samples);
  EXPECT_FALSE(link.is_fitted);
  EXPECT_EQ(link.latency_ns, 20'000);
  EXPECT_NEAR(link.ns_per_byte, 0.1, 1e-9);
}
TEST(FitLink, WhatIsBeyondAnyLatencyWasWaiting) {
  const LinkSample samples[] = {{1e6, 1'150'000}, {4e6, 1'450'000}};
  EXPECT_EQ(FitLink(samples).latency_ns, 100'000);
  EXPECT_NEAR(FitLink(samples).ns_per_byte, 0.1, 1e-9);
}
TEST(FitLink, NoLatencyIsBelowNothing) {
  const LinkSample samples[] = {{1e6, 50'000}, {2e6, 200'000}};
  const LinkSpeed link = FitLink(samples);
  EXPECT_EQ(link.latency_ns, 0);
  EXPECT_NEAR(link.ns_per_byte, (1e6 * 50'000 + 2e6 * 200'000) / 5e12, 1e-9);
}
TEST(FitLink, LargerOnesThatAreQuickerTellNothing) {
  const LinkSample samples[] = {{1e6, 300'000}, {2e6, 200'000}};
  EXPECT_FALSE(FitLink(samples).is_fitted);
  EXPECT_GE(FitLink(samples).ns_per_byte, 0);
  EXPECT_EQ(FitLink({}).ns_per_byte, 0);
}

TEST(Collectives, GradientsComeFromHooks) {
  Program program;
  program.Step([&] {
    program.Kernel({.us = 100, .op_class = GpuOpClass::kCommunication}, testing::kExchange);
    program.made().Collective("all_reduce", 5 * kUs, 105 * kUs, 1'000'000, 0, testing::kExchange);
    program.AllReduce(1'000'000, 150 * kUs);
  });
  Analysed run(std::vector{program.Finish()});
  const Collectives found = FindCollectives({run.tables().run().traces()[0], run.tables()});
  ASSERT_EQ(found.all.size(), 2U);
  EXPECT_FALSE(found.all[0].is_gradient) << "the forward pass's, as of a model in parts";
  EXPECT_TRUE(found.all[1].is_gradient);
}

}  // namespace
}  // namespace gapless::internal
