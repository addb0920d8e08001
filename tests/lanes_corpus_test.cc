// SPDX-License-Identifier: Apache-2.0
// Real recordings: tiles of the timeline hold exactly what a plain walk over all events gives.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/load.h"
#include "lanes/testing/plain_lanes.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

void ExpectPlainTilesOf(const fs::path& path) {
  if (!fs::exists(path)) GTEST_SKIP() << "no recording at " << path;
  OpenOptions options;
  options.use_cache = false;
  const auto loaded = LoadRun(std::vector{path.string()}, options);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Tables tables(loaded->run);
  const RunLanes lanes(tables);
  ASSERT_FALSE(lanes.traces().empty());
  for (const auto& trace : lanes.traces())
    for (const int level : {0, 7, 10, 13, 16, 20, 26}) testing::ExpectPlainTiles(lanes, *trace, level, 40);
}

TEST(LanesCorpus, ARecordingOfTheProject) { ExpectPlainTilesOf("samples/resnet50_v100.pt.trace.json.gz"); }

TEST(LanesCorpus, ARecordingWithPythonFrames) {
  const char* given = std::getenv("GAPLESS_CORPUS");
  ExpectPlainTilesOf(fs::path(given != nullptr ? given : "../shared/data") /
                     "kineto/AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz");
}

}  // namespace
}  // namespace gapless::internal
