// SPDX-License-Identifier: Apache-2.0
// The renderers on runs of a few events, with a summary and a diagnosis made by hand: what is said, and what never is.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyses/testing/hand_made.h"
#include "base/strings.h"
#include "predict/plan.h"
#include "report/explain.h"
#include "report/renderer.h"
#include "trace/builder.h"

namespace gapless::internal {
namespace {

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::shared_ptr<const Trace> MakeTrace(int64_t rank, std::string_view name = "gemm_kernel") {
  TraceBuilder builder;
  builder.info().path = StrCat("run/rank", rank, ".json");
  builder.info().format = "kineto";
  builder.info().rank = rank;
  builder.info().pid = 100 + rank;
  auto& shard = builder.NewShard();
  shard.Add(SliceRow{.name = shard.Text(name),
                     .category = SliceCategory::kOperator,
                     .pid = 1,
                     .tid = 1,
                     .ts_ns = 0,
                     .dur_ns = 1'000'000});
  shard.Add(GpuOpRow{.name = shard.Text(name), .ts_ns = 100'000, .dur_ns = 600'000});
  builder.Count("cut", Severity::kLoss, 3, 4096, "events without an end were dropped");
  return std::make_shared<const Trace>(std::move(builder).Finish());
}

DeviceBreakdown Device(int64_t rank, int64_t compute, int64_t comm, int64_t idle) {
  DeviceBreakdown device;
  device.trace = rank;
  device.rank = rank;
  device.device_name = "Tesla V100";
  device.compute_ns = compute * 1000;
  device.exposed_comm_ns = comm * 1000;
  device.idle_ns = idle * 1000;
  device.idle_data_ns = idle * 1000;
  device.wall_ns = device.compute_ns + device.exposed_comm_ns + device.idle_ns;
  return device;
}

Bottleneck Waiting() {
  Bottleneck found;
  found.id = "data_loading";
  found.type = BottleneckType::kDataLoading;
  found.severity = 0.9;
  found.title = "the GPU waits 30 ms of every step for the next batch";
  found.share_of_step = 0.3;
  found.evidence.resize(1);
  found.evidence[0].text = "the loader takes 69.3 ms a batch";
  found.evidence[0].source = "train.py:41";
  found.recommendations.push_back(
      {"load batches in worker processes", "workers=4", "DataLoader(num_workers=4)", "minutes"});
  found.gain = Gain{.low = 1.2, .expected = 1.33, .high = 1.49, .confidence = 0.6, .method = "amdahl"};
  return found;
}

class RendererTest : public ::testing::Test {
 protected:
  void Load(std::vector<std::shared_ptr<const Trace>> traces) {
    run = gapless::internal::Run(std::move(traces));
    tables = std::make_unique<Tables>(run);
  }
  std::string Render(std::string_view name, const RenderOptions& options = {}) {
    return FindRenderer(name)->render(Report{run, *tables, diagnosis, summary, failures, cost}, options);
  }
  void Add(const DeviceBreakdown& device) {
    summary.breakdown.push_back(device);
    summary.ranks.push_back(*device.rank);
    summary.total.wall_ns += device.wall_ns;
    summary.total.compute_ns += device.compute_ns;
    summary.total.exposed_comm_ns += device.exposed_comm_ns;
    summary.total.idle_ns += device.idle_ns;
    summary.total.idle_data_ns += device.idle_data_ns;
    summary.run_class = "input bound";
  }

  gapless::internal::Run run;
  std::unique_ptr<Tables> tables;
  Diagnosis diagnosis;
  RunSummary summary;
  std::vector<Error> failures;
  std::optional<RunCost> cost;
};

TEST_F(RendererTest, TheTerminalSaysWhereTimeGoesAndWhatToFix) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  const std::string text = Render("terminal");
  for (const std::string_view part :
       {"rank0.json", "1 × Tesla V100", "input bound", "compute       60.0 %", "idle          40.0 %",
        "the GPU waits 30 ms of every step for the next batch", "1.33× (1.20–1.49)", "train.py:41",
        "→ load batches in worker processes", "gapless analyze run/rank0.json --explain data_loading"}) {
    EXPECT_TRUE(Contains(text, part)) << part << "\nis missing in\n" << text;
  }
}

TEST_F(RendererTest, LossesInReadingAreSaid) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  failures.push_back({ErrorCode::kInput, "the file is empty", "run/rank1.json", ""});
  const std::string text = Render("terminal");
  EXPECT_TRUE(Contains(text, "! events without an end were dropped (3 times, first at byte 4,096)")) << text;
  EXPECT_TRUE(Contains(text, "! not read: run/rank1.json: the file is empty")) << text;
}

// A rank that computes until `arrives` µs and then joins an all-reduce that ends at 700 µs; one before it starts them
// all.
std::shared_ptr<const Trace> RankThatArrives(int64_t rank, int64_t arrives) {
  constexpr int64_t kUs = 1000;
  testing::HandMade trace;
  const GpuOpDraft communication{.op_class = GpuOpClass::kCommunication, .stream = 20};
  trace.Rank(rank).Step(0, 0, 1000 * kUs).Collective("all_reduce", 0, 10 * kUs, 1 << 20);
  trace.Kernel("nccl", {0, 1 * kUs, 0, 10 * kUs}, communication);
  trace.Kernel("gemm", {1 * kUs, 2 * kUs, 10 * kUs, arrives * kUs});
  trace.Kernel("nccl", {2 * kUs, 3 * kUs, arrives * kUs, 700 * kUs}, communication);
  trace.Collective("all_reduce", arrives * kUs, 700 * kUs, 1 << 20);
  return trace.Finish();
}

TEST_F(RendererTest, SeveralRanksAreComparedAndTheStragglerIsMarked) {
  Load({RankThatArrives(0, 300), RankThatArrives(1, 600)});
  Add(Device(0, 300, 400, 300));
  Add(Device(1, 600, 100, 300));
  const std::string text = Render("terminal");
  EXPECT_TRUE(Contains(text, "2 ranks")) << text;
  const size_t rank1 = text.find("  rank 1");
  ASSERT_NE(rank1, std::string::npos) << text;
  EXPECT_TRUE(Contains(text.substr(rank1, text.find('\n', rank1) - rank1), "◀ straggler")) << text;
}

TEST_F(RendererTest, ManyRanksAreCutToThoseThatDifferAndTheRestIsCounted) {
  Load({RankThatArrives(0, 300), RankThatArrives(1, 600)});
  for (int64_t rank = 0; rank < 12; ++rank) Add(Device(rank, rank == 9 ? 600 : 300, 400, rank == 11 ? 500 : 300));
  const std::string text = Render("terminal");
  EXPECT_TRUE(Contains(text, "4 of 12 differ less and are not shown (-v shows all)")) << text;
  EXPECT_TRUE(Contains(text, "  rank 9 ")) << "the least idle one differs, too\n" << text;
  EXPECT_TRUE(Contains(text, "◀ straggler")) << text;
  EXPECT_TRUE(Contains(text, "◀ most idle")) << text;
  EXPECT_FALSE(Contains(text, "  rank 8 ")) << text;
  EXPECT_FALSE(Contains(Render("terminal", {.verbose = true}), "not shown")) << text;
}

TEST_F(RendererTest, ARunWithoutGpuWorkSaysSoAndShowsOperators) {
  Load({MakeTrace(0, "aten::conv2d")});
  const std::string text = Render("terminal");
  EXPECT_TRUE(Contains(text, "no GPU work")) << text;
  EXPECT_TRUE(Contains(text, "nothing to fix was found in what the host did")) << text;
  EXPECT_TRUE(Contains(text, "aten::conv2d")) << text;
  EXPECT_TRUE(Contains(text, "ProfilerActivity.CUDA")) << text;
}

TEST_F(RendererTest, NoLineButTheCommandsIsWiderThanAsked) {
  Load({MakeTrace(0), MakeTrace(1)});
  Add(Device(0, 400, 300, 300));
  Add(Device(1, 400, 100, 500));
  diagnosis.bottlenecks = {Waiting(), Waiting()};
  summary.class_evidence =
      std::string(300, 'x') + " and many words that have to be wrapped somewhere, because they are too many";
  for (const int width : {60, 80, 100, 160}) {
    const std::string text = Render("terminal", {.width = width});
    for (const std::string_view line : Split(text, '\n')) {
      if (!Contains(line, "gapless ")) {
        EXPECT_LE(DisplayWidth(line), std::max(80, width)) << line;
      }
    }
  }
}

TEST_F(RendererTest, ATraceCannotSendControlCharactersToTheTerminal) {
  Load({MakeTrace(0,
                  "\x1b[31mevil\x07\x9b"
                  "2J")});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  diagnosis.bottlenecks[0].title += "\x1b[2J";
  diagnosis.bottlenecks[0].evidence[0].text = "\x1b]0;x\x07";
  for (const bool verbose : {false, true}) {
    const std::string text = Render("terminal", {.verbose = verbose});
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
  }
}

TEST_F(RendererTest, WithoutUtf8EverythingIsAscii) {
  Load({MakeTrace(0, "naïve")});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  for (const char c : Render("terminal", {.utf8 = false})) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST_F(RendererTest, JsonLeavesOutWhatIsAbsent) {
  Load({MakeTrace(kAbsent)});
  const std::string text = Render("json");
  EXPECT_TRUE(Contains(text, "\"ranks\": []")) << text;
  for (const std::string_view key : {"\"steps\"", "\"step_ns\"", "\"gpu_busy_share\"", "\"breakdown\"",
                                     "\"estimated_speedup\"", "\"rank\"", "null"}) {
    EXPECT_FALSE(Contains(text, key)) << key << " in\n" << text;
  }
}

TEST_F(RendererTest, JsonHoldsEveryBottleneckWithItsEvidence) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  const std::string text = Render("json");
  for (const std::string_view part :
       {"\"type\": \"DATA_LOADING\"", "\"source\": \"train.py:41\"", "\"fix\": \"workers=4\"", "\"expected\": 1.33",
        "\"wall_ns\": 1000000", "\"first_offset\": 4096"}) {
    EXPECT_TRUE(Contains(text, part)) << part << "\nis missing in\n" << text;
  }
}

TEST(RenderersTest, EveryRendererIsDescribedAndFound) {
  for (const Renderer* renderer : AllRenderers()) {
    EXPECT_FALSE(renderer->help.empty());
    EXPECT_LE(renderer->help.size(), 72U) << renderer->name;
    EXPECT_EQ(FindRenderer(renderer->name), renderer);
  }
  EXPECT_EQ(FindRenderer("nonsense"), nullptr);
}

TEST_F(RendererTest, OnlyFiveBottlenecksAreShownUnlessAskedForMore) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.assign(7, Waiting());
  EXPECT_TRUE(Contains(Render("terminal"), "and 2 more (-v shows them)"));
  EXPECT_FALSE(Contains(Render("terminal", {.verbose = true}), "2 more"));
}

TEST_F(RendererTest, MarkdownHasTheHeadingsPeopleLookFor) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  diagnosis.bottlenecks.push_back(Waiting());
  diagnosis.bottlenecks[1].severity = 0.5;
  summary.estimated_speedup = Gain{.low = 1.3, .expected = 1.5, .high = 2, .confidence = 0.5, .method = "amdahl"};
  const std::string text = Render("markdown");
  const size_t critical = text.find("## Critical Issues (severity >0.7)"),
               warnings = text.find("## Warnings (severity 0.4-0.7)"),
               estimate = text.find("## Estimated Performance Improvement");
  ASSERT_NE(estimate, std::string::npos) << text;
  EXPECT_LT(critical, text.find("### 1. DATA"));
  EXPECT_LT(text.find("### 1. DATA"), warnings);
  EXPECT_LT(warnings, text.find("### 2. DATA"));
  EXPECT_LT(text.find("### 2. DATA"), estimate);
  EXPECT_TRUE(Contains(text, "**1.50× (1.30–2.00)**")) << text;
  EXPECT_TRUE(Contains(text, "| all | 60.0 %")) << text;
  EXPECT_FALSE(Contains(text, "## Minor"));
}

TEST_F(RendererTest, MarkdownTakesNoMarkupFromARecording) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  diagnosis.bottlenecks[0].title = "<script> `x` **bold** [a](b) | __next__ of num_workers";
  const std::string text = Render("markdown");
  EXPECT_TRUE(Contains(text, R"(\<script\> \`x\` \*\*bold\*\* \[a\](b) \| \_\_next\_\_ of num_workers)")) << text;
}

TEST_F(RendererTest, CostsAreSaidWhereARateIsKnown) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  summary.estimated_speedup = diagnosis.bottlenecks[0].gain;
  cost = CostOf(run, summary, {.price_per_gpu_hour = 2, .gpus = 10});
  EXPECT_TRUE(Contains(Render("terminal"), "saves $ 3,620 a month")) << Render("terminal");
  EXPECT_TRUE(Contains(Render("markdown"), "on 10 GPUs for 730 hours a month")) << Render("markdown");
  EXPECT_TRUE(Contains(Render("json"), "\"saving_per_month\"")) << Render("json");
}

// The formula that is printed gives the number that is printed.
TEST_F(RendererTest, ExplainingARuleDerivesItsSeverity) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  const Rule& rule =
      **std::ranges::find(AllRules(), std::string_view("data_loading"), [](const Rule* of) { return of->id; });
  const auto said = [&](double severity, double gain) {
    diagnosis.bottlenecks = {Waiting()};
    diagnosis.bottlenecks[0].share_of_step = 0.37, diagnosis.bottlenecks[0].severity = severity;
    diagnosis.bottlenecks[0].gain = Gain{.low = gain, .expected = gain, .high = gain};
    std::string text = ExplainText({run, *tables, diagnosis, summary, failures, cost}, rule, {});
    std::ranges::replace(text, '\n', ' ');
    return text;
  };
  EXPECT_TRUE(Contains(said(SeverityOfShare(0.37), 2), "severity 0.92, critical: 1 − exp(−0.370 / 0.15)"));
  EXPECT_TRUE(Contains(said(MostSevere(1.09), 1.09), "severity 0.56, warning: 1 − exp(−0.124 / 0.15)"));
  EXPECT_TRUE(Contains(said(kMinor, 1.0), "severity 0.39, minor, as its fix saves little"));
  EXPECT_TRUE(Contains(said(0.6, 2), "severity 0.60, warning, as what is listed above it has no more"));
}

TEST_F(RendererTest, ExplainingARuleShowsItsDefinitionAndNumbers) {
  Load({MakeTrace(0)});
  Add(Device(0, 600, 0, 400));
  diagnosis.bottlenecks.push_back(Waiting());
  const auto rule = [](std::string_view id) -> const Rule& {
    return **std::ranges::find(AllRules(), id, [](const Rule* rule) { return rule->id; });
  };
  const Report report{run, *tables, diagnosis, summary, failures, cost};
  const std::string spoke = ExplainText(report, rule("data_loading"), {});
  for (const std::string_view part : {"what it looks at", "Reported at 5 %", "reported here", "1 − exp(−0.300 / 0.15)",
                                      "24.8 %", "in train.py:41", "DataLoader(num_workers=4)"})
    EXPECT_TRUE(Contains(spoke, part)) << part << "\nis missing in\n" << spoke;
  const std::string explanation = ExplainText(report, rule("launch_bound"), {});
  EXPECT_TRUE(Contains(explanation, "not reported here")) << explanation;
  EXPECT_TRUE(Contains(explanation, "ledger")) << explanation;
  EXPECT_TRUE(Contains(ExplainJson(report, rule("data_loading")), "\"definition\""));
}

}  // namespace
}  // namespace gapless::internal
