// SPDX-License-Identifier: Apache-2.0
// The layouts of real recordings with process groups. What is expected was read off the recordings: trainings under
// DistributedDataParallel, made-up ones that add up gradients, and an engine whose only exchange says nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/rows/parallel_layout.h"
#include "base/strings.h"
#include "ingest/load.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kHta = "kineto/facebookresearch__HolisticTraceAnalysis/tests/data/";
constexpr std::string_view kTraceLens = "kineto/AMD-AGI__TraceLens/tests/traces/";

// "data 2 inferred 0-1"; "" where the recorder named no groups.
std::string LayoutIn(const std::string& path) {
  OpenOptions options;
  options.use_cache = false;
  const auto loaded = LoadRun(std::vector{path}, options);
  if (!loaded) return loaded.error().ToString();
  Tables tables(loaded->run);
  const auto rows = tables.Get<ParallelLayoutRows>();
  std::string text;
  for (size_t row = 0; row < rows.rows(); ++row)
    text += StrCat(row > 0 ? ", " : "", rows.Text(row, "dimension"), ' ', rows.Int(row, "size"), ' ',
                   rows.Text(row, "known"), ' ', rows.Text(row, "ranks"));
  return text;
}

TEST(LayoutOfRecordings, IsAsTheRecordingsShow) {
  const char* given = std::getenv("GAPLESS_CORPUS");
  const std::filesystem::path corpus(given != nullptr ? given : "../shared/data");
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << corpus << " is absent";
  const std::pair<std::string, std::string> kKnown[] = {
      {StrCat(kHta, "nccl_parser_config/nccl_data.json.gz"), "data 2 inferred 0-1"},
      {StrCat(kTraceLens, "mi300/resnet_act_checkpoint.json.gz"), "data 8 inferred 0-7"},
      {StrCat(kTraceLens, "b200/eager_trace.json.gz"), "unknown 8  0-7"},
      {StrCat(kHta, "cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"), ""},
      {StrCat(kHta, "trace_diff/control/control.json.gz"), ""},
      {"kineto/facebookresearch__param/et_replay/tests/inputs/dlrm_kineto", ""},
      {"cases/case38_spin", "data 2 inferred 0-1"},
      {"cases/case13_noranks", "data 2 inferred 0-1"},
  };
  int looked_at = 0;
  for (const auto& [path, layout] : kKnown) {
    if (!std::filesystem::exists(corpus / path)) continue;
    ++looked_at;
    EXPECT_EQ(LayoutIn((corpus / path).string()), layout) << path;
  }
  EXPECT_GT(looked_at, 0);
}

}  // namespace
}  // namespace gapless::internal
