// SPDX-License-Identifier: Apache-2.0
// compile, cudagraph, fused_optimizer, fusion, sdpa: kernels and launches that go away.
#include "predict/fixes/testing/program.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::Ask;
using testing::Asked;
using testing::HandMade;
using testing::Program;

Program Of(const testing::KernelOf& kernel) {
  Program program;
  program.Steps(2, [&] { program.Kernel(kernel); });
  return program;
}

TEST(Compile, WorkBoundByMemoryGetsFaster) {
  Program program = Of({.op = "aten::mul", .us = 1000, .op_class = GpuOpClass::kPointwise});
  const Asked asked = Ask(program, "compile");
  EXPECT_EQ(asked.SavedUs(Estimate::kPessimistic), 0);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 450, 5);
}
TEST(Compile, CompiledAlready) {
  Program program = Of({.us = 1000, .op_class = GpuOpClass::kPointwise, .name = "triton_poi_fused_add_0"});
  EXPECT_EQ(Ask(program, "compile").effect.no_effect, "compiled kernels are in it already");
}

TEST(Cudagraph, ALaunchBoundStepLosesItsLaunches) {
  Program program;
  program.Steps(2, [&] {
    for (int i = 0; i < 100; ++i) program.Kernel({.op = "aten::add", .ns = 200});
  });
  // An operator takes 5 µs: a tenth of its 4 µs of self time stays, and half of the 1 µs between operators.
  const Asked asked = Ask(program, "cudagraph");
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 100 * 4 * 0.5, 6);
  EXPECT_LT(asked.SavedUs(), 100 * (4 * 0.9 + 0.5) + 6);
  EXPECT_GT(asked.SavedUs(), 100 * 4 * 0.9);
}
TEST(Cudagraph, ADeviceBoundStepKeepsItsLength) {
  Program program = Of({.op = "aten::mm", .us = 1000});
  EXPECT_NEAR(Ask(program, "cudagraph").SavedUs(), 0, 6);
}
TEST(Cudagraph, LeavesTheHostsOwnWorkAlone) {
  Program program;
  program.Steps(2, [&] {
    program.Host(400, "aten::sort");
    for (int i = 0; i < 10; ++i) program.Kernel({.op = "aten::add", .ns = 200});
  });
  EXPECT_LT(Ask(program, "cudagraph").SavedUs(Estimate::kOptimistic), 60) << "the sort is computed on the host";
}
TEST(Cudagraph, BesideCompileTakesLaunchesOnce) {
  Program program;
  program.Steps(2, [&] {
    for (int i = 0; i < 100; ++i) program.Kernel({.op = "aten::add", .op_class = GpuOpClass::kPointwise, .ns = 200});
  });
  Analysed run(std::vector{program.Finish()});
  const RunTrace& of = *run.tables().run().primary()[0];
  const Graph graph = BuildGraph(*of.trace);
  EdgeTimes graphs(graph), both(graph);
  const FixModel &compile = FindFix("compile")->model, &cudagraph = FindFix("cudagraph")->model;
  ASSERT_TRUE(cudagraph.apply({of, run.tables()}, {.name = "cudagraph"}, Estimate::kExpected, graphs));
  ASSERT_TRUE(compile.apply({of, run.tables()}, {.name = "compile"}, Estimate::kExpected, both));
  ASSERT_TRUE(cudagraph.apply({of, run.tables()}, {.name = "cudagraph"}, Estimate::kExpected, both));
  for (size_t edge = 0; edge < graph.edges.size(); ++edge) {
    const EdgeKind kind = graph.edges[edge].kind;
    if (kind != EdgeKind::kHost && kind != EdgeKind::kCall) continue;
    EXPECT_EQ(both.ns()[edge], graphs.ns()[edge]);
  }
}
TEST(Cudagraph, LaunchedAsGraphsAlready) {
  Program program = Of({.op = "aten::mm", .us = 1000});
  program.made().Call("cudaGraphLaunch", ApiKind::kGraphLaunch, 3'000'000, 3'010'000);
  EXPECT_EQ(Ask(program, "cudagraph").effect.no_effect, "the step is launched as graphs already");
}

Program Update(std::string_view kernel) {
  Program program;
  program.Steps(2, [&] {
    program.Optimizer([&] {
      for (int i = 0; i < 10; ++i) program.Kernel({.op = "aten::add_", .us = 100, .name = kernel});
    });
  });
  return program;
}
TEST(FusedOptimizer, TheUpdateTakesHalf) {
  Program program = Update("elementwise");
  EXPECT_NEAR(Ask(program, "fused_optimizer").SavedUs(), 500, 6);
}
// On the host: six steps of 2 ms, whose update calls ten operators of 10 µs; in the fourth step one of them takes 5 ms.
TEST(FusedOptimizer, ACallThatWasHeldUpOnceIsNotTheUpdates) {
  const auto saved_us = [](int64_t held_up_ns) {
    testing::HandMade made;
    int64_t now = 0;
    for (int64_t step = 0; step < 6; ++step) {
      const int64_t begin = now;
      made.Operator("aten::mm", now, now + 1'900'000), now += 1'900'000;
      const int64_t update = now;
      for (int i = 0; i < 10; ++i) {
        const int64_t took = step == 3 && i == 4 ? held_up_ns : 10'000;
        made.Operator("aten::add_", now, now + took), now += took;
      }
      made.Annotation("Optimizer.step#SGD.step", update, now).Step(step, begin, now);
    }
    testing::Analysed run(made);
    const auto asked = AskOf(run, "fused_optimizer");
    return asked.SavedUs();
  };
  const double even = saved_us(10'000);
  EXPECT_NEAR(even, 80, 5) << "a fifth of 100 us stays";
  EXPECT_NEAR(saved_us(5'000'000), even, 5);
}
TEST(FusedOptimizer, FusedAlready) {
  Program program = Update("multi_tensor_apply<FusedAdam>");
  EXPECT_EQ(Ask(program, "fused_optimizer").effect.no_effect, "the optimiser is fused already");
}
TEST(FusedOptimizer, RefusesWithoutAnOptimiser) {
  Program program = Of({.op = "aten::add_"});
  EXPECT_EQ(Ask(program, "fused_optimizer").effect.refusal, "no optimiser's step was recorded");
}

constexpr HandMade::Inputs kTwo{.shapes = "[[1024,1024],[1024,1024]]", .types = R"(["float","float"])"};
constexpr HandMade::Inputs kOne{.shapes = "[[1024,1024]]", .types = R"(["float"])"};
constexpr HandMade::Inputs kNone{};

// Two tensors in and one out, twice; then one in and one out.
Program Chain(HandMade::Inputs two, HandMade::Inputs single) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mul", .us = 300, .op_class = GpuOpClass::kPointwise, .inputs = two});
    program.Kernel({.op = "aten::add", .us = 300, .op_class = GpuOpClass::kPointwise, .inputs = two});
    program.Kernel({.op = "aten::gelu", .us = 200, .op_class = GpuOpClass::kPointwise, .inputs = single});
  });
  return program;
}
TEST(Fusion, TensorsBetweenOperatorsAreNeitherReadNorWritten) {
  Program program = Chain(kTwo, kOne);
  const Asked asked = Ask(program, "fusion");
  // 3 + 3 + 2 tensors are moved in 800 µs. Two lie between: not read again, and written all, half or not at all.
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 800 * 2 / 8.0, 1);
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 800 * 3 / 8.0, 12);
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), 800 * 4 / 8.0, 12);
}
TEST(Fusion, WithoutShapesAllOperatorsMoveTheSame) {
  Program program = Chain(kNone, kNone);
  EXPECT_NEAR(Ask(program, "fusion").SavedUs(), 800 * 1.5 * 2 / 6, 12);
}
// A tensor between operators is moved four times, of which none remains, or one in the cautious case.
TEST(Fusion, ASelectorChoosesTheChainsOfAKernel) {
  Program program = Chain(kTwo, kOne);
  const Asked asked = Ask(program, "fusion:aten::mul > aten::add > aten::gelu");
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 800 * 4 / 8.0, 12);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 800 * 3 / 8.0, 12);
  Program other = Chain(kTwo, kOne);  // of these the kernel would do a part only
  EXPECT_EQ(Ask(other, "fusion:aten::mul > aten::add").effect.no_effect,
            "no operators that could be one kernel follow each other");
}
TEST(Fusion, OperatorsApartAreNoChain) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mul", .op_class = GpuOpClass::kPointwise});
    program.Kernel({.op = "aten::mm", .op_class = GpuOpClass::kGemm});
  });
  EXPECT_EQ(Ask(program, "fusion").effect.no_effect, "no operators that could be one kernel follow each other");
}
TEST(Fusion, RefusesWithoutOperators) {
  Program program = Of({.op_class = GpuOpClass::kPointwise});
  EXPECT_EQ(Ask(program, "fusion").effect.refusal,
            "operators were not recorded: what launched the kernels is not known");
}

constexpr std::string_view kTypes = R"(["c10::Half","c10::Half"])";
constexpr HandMade::Inputs kSquare{.shapes = "[[1024,1024],[1024,1024]]", .types = kTypes};
constexpr HandMade::Inputs kScores{.shapes = "[[16,1024,64],[16,64,1024]]", .types = kTypes};
constexpr HandMade::Inputs kValues{.shapes = "[[16,1024,1024],[16,1024,64]]", .types = kTypes};
constexpr HandMade::Inputs kSoftmax{.shapes = "[[16,1024,1024]]", .types = R"(["c10::Half"])"};

Program Attention(bool shapes) {
  Program program;
  const auto with = [&](HandMade::Inputs inputs) { return shapes ? inputs : HandMade::Inputs(); };
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 100, .op_class = GpuOpClass::kGemm, .inputs = with(kSquare)});
    program.Kernel({.op = "aten::bmm", .us = 200, .op_class = GpuOpClass::kGemm, .inputs = with(kScores)});
    program.Kernel({.op = "aten::_softmax", .us = 400, .op_class = GpuOpClass::kReduce, .inputs = with(kSoftmax)});
    program.Kernel({.op = "aten::bmm", .us = 200, .op_class = GpuOpClass::kGemm, .inputs = with(kValues)});
  });
  return program;
}
TEST(Sdpa, OneKernelAtAShareOfTheSpeedOfProducts) {
  Program program = Attention(true);
  const Asked asked = Ask(program, "sdpa");
  // aten::mm: 2·1024³ FLOPs in 100 µs. Both products have as many each: 200 µs at that speed.
  EXPECT_NEAR(asked.SavedUs(Estimate::kExpected), 800 - 200 / 0.6, 12);
  EXPECT_NEAR(asked.SavedUs(Estimate::kPessimistic), 800 - 200 / 0.35, 2);
  EXPECT_NEAR(asked.SavedUs(Estimate::kOptimistic), 800 - 200 / 0.85, 12);
}
TEST(Sdpa, BackwardIsFiveProducts) {
  Program program;
  program.Steps(2, [&] {
    program.Kernel({.op = "aten::mm", .us = 100, .op_class = GpuOpClass::kGemm, .inputs = kSquare});
    program.Kernel({.op = "aten::bmm", .us = 400, .op_class = GpuOpClass::kGemm, .inputs = kScores});
    program.Kernel({.op = "aten::bmm", .us = 400, .op_class = GpuOpClass::kGemm, .inputs = kScores});
    program.Kernel(
        {.op = "aten::_softmax_backward_data", .us = 800, .op_class = GpuOpClass::kReduce, .inputs = kSoftmax});
    program.Kernel({.op = "aten::bmm", .us = 400, .op_class = GpuOpClass::kGemm, .inputs = kValues});
    program.Kernel({.op = "aten::bmm", .us = 400, .op_class = GpuOpClass::kGemm, .inputs = kValues});
  });
  EXPECT_NEAR(Ask(program, "sdpa").SavedUs(), 2400 - 500 / 0.6, 20);
}
TEST(Sdpa, WithoutShapesWhatIsBetweenTheProductsGoes) {
  Program program = Attention(false);
  EXPECT_NEAR(Ask(program, "sdpa").SavedUs(), 400 * 0.8, 12);
}
TEST(Sdpa, FusedAlready) {
  Program program = Of({.op = "aten::_flash_attention_forward", .op_class = GpuOpClass::kAttention});
  EXPECT_EQ(Ask(program, "sdpa").effect.no_effect, "attention runs in fused kernels already");
  Program none = Of({.op = "aten::mm"});
  EXPECT_EQ(Ask(none, "sdpa").effect.no_effect, "no attention in single operators was recorded");
}
TEST(Sdpa, RefusesWithoutOperators) {
  Program program = Of({.op_class = GpuOpClass::kGemm});
  EXPECT_FALSE(Ask(program, "sdpa").effect.refusal.empty());
}

}  // namespace
}  // namespace gapless::internal
