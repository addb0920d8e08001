// SPDX-License-Identifier: Apache-2.0
// Shell scripts stand in for nsys and ncu: they write down how they were called, and the files that the tools would
// write.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "collect/nsight/compute.h"
#include "collect/nsight/systems.h"

namespace gapless::internal {
namespace {

class Nsight : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = StrCat(::testing::TempDir(), "/nsight_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The program `name`, whose body is shell; "$out" is the file after --output= or --export.
  void Script(const std::string& name, const std::string& body) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\necho \"$0 $*\" >> " << folder_ << "/calls\n"
                        << "echo \"disabled=$GAPLESS_DISABLE\" >> " << folder_ << "/calls\n"
                        << "for a in \"$@\"; do\n"
                           "  case \"$a\" in --output=*) out=\"${a#--output=}\";; esac\n"
                           "  [ \"$previous\" = --export ] && out=\"$a\"\n"
                           "  [ \"$previous\" = --log-file ] && log=\"$a\"\n"
                           "  previous=\"$a\"\ndone\n"
                        << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  FindTool Find() const {
    return [this](std::string_view name) {
      const std::string path = StrCat(folder_, '/', name);
      return std::filesystem::exists(path) ? path : std::string();
    };
  }
  std::string Calls() const {
    std::ifstream in(folder_ + "/calls");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string Out(const std::string& name) const { return folder_ + "/out/" + name; }

  std::string folder_;
};

TEST_F(Nsight, SystemsRecordsAndExports) {
  Script("nsys",
         "if [ \"$1\" = profile ]; then echo report > \"$out.nsys-rep\"; exit 7; fi\n"
         "echo sqlite > \"$out\"\n");
  const NsightSystemsProfiler profiler(RunAndWait, Find());
  const auto result = profiler.Profile({"python", "train.py", "--lr", "1"}, Out("report"),
                                       {.trace = "cuda,nvtx", .duration_s = 30, .cuda_memory_usage = true});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report, Out("report.nsys-rep"));
  EXPECT_EQ(result->sqlite, Out("report.sqlite"));
  EXPECT_EQ(result->command_status, 7);  // the command's own
  const std::string calls = Calls();
  EXPECT_NE(calls.find("--trace=cuda,nvtx --duration=30 --kill=none --cuda-memory-usage=true python train.py --lr 1\n"),
            std::string::npos)
      << calls;
  EXPECT_NE(calls.find("disabled=1"), std::string::npos);
  EXPECT_NE(calls.find("export --type=sqlite"), std::string::npos);
}

TEST_F(Nsight, SystemsOfAnOldVersionWritesQdrep) {
  Script("nsys", "if [ \"$1\" = profile ]; then echo x > \"$out.qdrep\"; else echo x > \"$out\"; fi\n");
  const auto result = NsightSystemsProfiler(RunAndWait, Find()).Profile({"a"}, Out("report"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report, Out("report.qdrep"));
  EXPECT_EQ(result->sqlite, Out("report.sqlite"));
}

TEST_F(Nsight, SystemsSaysWhatIsWrong) {
  const NsightSystemsProfiler profiler(RunAndWait, Find());
  const auto missing = profiler.Profile({"a"}, Out("report"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(missing.error().hint.find("apt install nsight-systems"), std::string::npos);
  EXPECT_EQ(profiler.Profile({}, Out("report")).error().code, ErrorCode::kUsage);
  EXPECT_EQ(profiler.Profile({"a"}, Out("report"), {.duration_s = 0}).error().code, ErrorCode::kUsage);
  Script("nsys", "exit 1\n");
  const auto nothing = profiler.Profile({"a"}, Out("report"));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kCommand);
  EXPECT_NE(nothing.error().message.find("status was 1"), std::string::npos);
  Script("nsys", "[ \"$1\" = profile ] && echo x > \"$out.nsys-rep\"\n[ \"$1\" = profile ]\n");
  const auto no_export = profiler.Profile({"a"}, Out("report"));
  ASSERT_FALSE(no_export);
  EXPECT_NE(no_export.error().message.find("export"), std::string::npos);
}

TEST_F(Nsight, ComputeMeasuresAndPrints) {
  Script("ncu", "if [ \"$1\" = --import ]; then echo '\"ID\",\"Process ID\"'; else echo rep > \"$out\"; fi\n");
  const NsightComputeProfiler profiler(RunAndWait, Find());
  std::vector<Error> failures;
  const std::vector<KernelTarget> targets = {{.kernel_name = "gemm", .launch_skip = 50, .launch_count = 3},
                                             {.kernel_name = "norm", .launch_skip = 0, .launch_count = 1}};
  const auto results = profiler.ProfileKernels({"python", "train.py"}, targets, folder_ + "/out", {}, failures);
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), 2U);
  EXPECT_TRUE(failures.empty());
  EXPECT_EQ(results->at(1).csv, Out("kernel-2.ncu.csv"));
  std::ifstream csv(results->at(0).csv);
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "\"ID\",\"Process ID\"");
  EXPECT_NE(Calls().find("--kernel-name-base function --kernel-name gemm --launch-skip 50 --launch-count 3 --set full "
                         "--kill yes"),
            std::string::npos)
      << Calls();
  EXPECT_NE(Calls().find("--page raw --print-units base"), std::string::npos);
}

TEST_F(Nsight, ComputeSaysWhatIsWrong) {
  const NsightComputeProfiler profiler(RunAndWait, Find());
  EXPECT_EQ(profiler.ProfileKernel({"a"}, {}, Out("k")).error().code, ErrorCode::kEnvironment);
  Script("ncu", "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' > \"$log\"; exit 1\n");
  const auto forbidden = profiler.ProfileKernel({"a"}, {}, Out("k"));
  EXPECT_EQ(forbidden.error().code, ErrorCode::kEnvironment);
  EXPECT_NE(forbidden.error().hint.find("gapless doctor"), std::string::npos);
  Script("ncu", "echo '==WARNING== No kernels were profiled.' > \"$log\"\n");
  EXPECT_NE(profiler.ProfileKernel({"a"}, {.kernel_name = "gemm"}, Out("k")).error().message.find("no launch matched"),
            std::string::npos);
}

TEST_F(Nsight, OneKernelThatFailsDoesNotEndTheOthers) {
  Script(
      "ncu",
      "case \"$*\" in --import*) echo x;; *norm*) echo 'No kernels were profiled' > \"$log\";; *) echo r > \"$out\";; "
      "esac\n");
  std::vector<Error> failures;
  const std::vector<KernelTarget> targets = {{.kernel_name = "norm"}, {.kernel_name = "gemm"}};
  const auto results =
      NsightComputeProfiler(RunAndWait, Find()).ProfileKernels({"a"}, targets, folder_ + "/out", {}, failures);
  ASSERT_TRUE(results);
  EXPECT_EQ(results->size(), 1U);
  EXPECT_EQ(failures.size(), 1U);
}

TEST(RunAndWait, GivesTheStatus) {
  EXPECT_EQ(*RunAndWait({.argv = {"/bin/sh", "-c", "exit 3"}}), 3);
  EXPECT_EQ(*RunAndWait({.argv = {"/bin/sh", "-c", "kill -9 $$"}}), 137);
  EXPECT_EQ(*RunAndWait({.argv = {"/bin/sh", "-c", "[ \"$A\" = b ]"}, .environment = {{"A", "b"}}}), 0);
  EXPECT_FALSE(RunAndWait({.argv = {"/nonexistent"}}));
  EXPECT_FALSE(RunAndWait({.argv = {}}));
}

TEST(KernelChoice, NamesOfFunctions) {
  EXPECT_EQ(FunctionName("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_EQ(FunctionName("void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>>(int)"),
            "vectorized_elementwise_kernel");
  EXPECT_EQ(FunctionName("void at::native::(anonymous namespace)::cat<float, 4>(int, int)"), "cat");
  EXPECT_EQ(FunctionName("<unnamed>::nvfuser_inner_f1_c1(<unnamed>::Tensor<float, (int)2>, long)"),
            "nvfuser_inner_f1_c1");
  EXPECT_EQ(FunctionName("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(FunctionName(""), "");
  EXPECT_EQ(FunctionName("(((<<>>"), "");
}

TEST(KernelChoice, TheFiveThatTookMostFromTheMiddleOn) {
  const std::vector<KernelTotal> kernels = {{"void f<(int)1>(int)", 100, 10},
                                            {"void f<2>(int)", 150, 10},
                                            {"g", 240, 400},
                                            {"h", 10, 1},
                                            {"i", 9, 1},
                                            {"j", 8, 1},
                                            {"k", 7, 1},
                                            {"", 1000, 1}};
  const auto targets = ChooseKernels(kernels, {});
  ASSERT_EQ(targets.size(), 5U);
  EXPECT_EQ(targets[0].kernel_name, "f");  // both instances together: 250 ns
  EXPECT_EQ(targets[0].launch_skip, 10);
  EXPECT_EQ(targets[0].launch_count, 3);
  EXPECT_EQ(targets[1].kernel_name, "g");
  EXPECT_EQ(targets[1].launch_skip, 200);
  EXPECT_EQ(targets[2].kernel_name, "h");  // launched once: measured once, nothing skipped
  EXPECT_EQ(targets[2].launch_skip, 0);
  EXPECT_EQ(targets[2].launch_count, 1);
  EXPECT_EQ(targets[4].kernel_name, "j");
}

TEST(KernelChoice, TheUsersOwn) {
  const auto targets = ChooseKernels({}, {.launch_count = 10, .kernel_name = "gemm.*", .launch_skip = 4});
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(targets[0].kernel_name, "regex:gemm.*");
  EXPECT_EQ(targets[0].launch_skip, 4);
  EXPECT_EQ(targets[0].launch_count, 10);
}

}  // namespace
}  // namespace gapless::internal
