// SPDX-License-Identifier: Apache-2.0
// Tests the rules that every fix of the catalogue keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

#include "base/pattern.h"
#include "base/strings.h"
#include "diagnose/rule.h"
#include "optimize/candidates.h"
#include "optimize/fix_item.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path ModuleOf(const Fix& fix) {
  return fs::path("python/gapless/agent/gapless_agent/fixes") / StrCat(fix.name, ".py");
}

const FixContext kSmall{.cpus = 1, .ranks = 1};
const FixContext kLaptop{.cpus = 2, .ranks = 1, .bf16_cpu = true, .torch_version = "2.0.1"};
const FixContext kVolta{.cpus = 16, .ranks = 2, .gpu = true, .compute_major = 7, .torch_version = "2.4.0"};
const FixContext kLarge{
    .cpus = 192, .ranks = 8, .gpu = true, .compute_major = 9, .torch_version = "2.15.0", .all_values = true};

TEST(Catalogue, EveryFixIsAFileOfItsNameWithALineOfHelp) {
  EXPECT_GE(AllFixes().size(), 37U);
  EXPECT_TRUE(std::ranges::is_sorted(AllFixes(), {}, &Fix::name));
  for (const Fix* fix : AllFixes()) {
    EXPECT_TRUE(fs::exists(StrCat("src/predict/fixes/", fix->name, ".cc"))) << fix->name;
    EXPECT_FALSE(fix->help.empty()) << fix->name;
    EXPECT_LE(fix->help.size(), 80U) << fix->name;
    EXPECT_FALSE(fix->help.ends_with('.')) << fix->name;
    EXPECT_TRUE(fix->has_model() || fix->has_trial()) << fix->name;
    EXPECT_EQ(FindFix(fix->name), fix);
  }
  EXPECT_EQ(FindFix("quantum"), nullptr);
}

TEST(Catalogue, ATrialSaysWhenItHelps) {
  EXPECT_GE(FixesWithTrial().size(), 28U);
  for (const Fix* fix : FixesWithTrial()) {
    EXPECT_TRUE(fix->trial.why.starts_with("Where ")) << fix->name;
    EXPECT_TRUE(fix->trial.why.ends_with('.')) << fix->name;
    EXPECT_EQ(FindFixWithTrial(fix->name), fix);
  }
  EXPECT_EQ(FindFixWithTrial("network"), nullptr) << "it can only be predicted";
}

TEST(Catalogue, APriorHasItsSourceAndAFigureWithoutOneIsUnknown) {
  for (const Fix* fix : FixesWithTrial()) {
    const bool has_source = fix->trial.why.find("Prior: ") != std::string_view::npos ||
                            fix->trial.why.find("about 20 %") != std::string_view::npos;
    EXPECT_TRUE(fix->trial.choice.prior == 1 || has_source) << fix->name << " has a prior from nowhere";
    EXPECT_GT(fix->trial.choice.prior, 0.1) << fix->name;
    EXPECT_LT(fix->trial.choice.prior, 4) << fix->name;
  }
}

TEST(Catalogue, ConflictsNameFixesInBothDirections) {
  for (const Fix* fix : FixesWithTrial())
    for (const std::string_view name : fix->trial.choice.conflicts) {
      const Fix* other = FindFix(name);
      ASSERT_NE(other, nullptr) << fix->name << " conflicts with " << name << ", which is not a fix";
      EXPECT_NE(std::ranges::find(other->trial.choice.conflicts, fix->name), other->trial.choice.conflicts.end())
          << name << " does not know " << fix->name;
      EXPECT_NE(other, fix);
    }
}

TEST(Catalogue, CuresNameRules) {
  for (const Fix* fix : FixesWithTrial()) {
    for (const std::string_view id : fix->trial.choice.cures)
      EXPECT_TRUE(std::ranges::any_of(AllRules(), [&](const Rule* rule) { return rule->id == id; }))
          << fix->name << ": " << id;
  }
}

TEST(Catalogue, OrdersAreApart) {
  std::map<int, std::string_view> names;
  for (const Fix* fix : FixesWithTrial()) {
    const auto [same, is_new] = names.emplace(fix->trial.choice.order, fix->name);
    EXPECT_TRUE(is_new) << fix->name << " and " << same->second << " both have the order " << same->first;
  }
  EXPECT_LT(FindFix("channels_last")->trial.choice.order, FindFix("compile")->trial.choice.order);
  EXPECT_LT(FindFix("workers")->trial.choice.order, FindFix("prefetch_factor")->trial.choice.order);
}

TEST(Catalogue, AValueMayChangeWhatAFixIs) {
  EXPECT_EQ(SafetyOf(*FindFix("nosync"), ""), Safety::kRounding);
  EXPECT_EQ((FixItem{FindFix("nosync"), "4"}.Class()), Safety::kTraining);
  EXPECT_EQ(SafetyOf(WhatIfItem{.name = "nosync", .value = "4"}), Safety::kTraining);
  EXPECT_EQ(UsualSafetyOf(*FindFix("nosync")), Safety::kTraining) << "its model needs a value";
}

std::string_view WithoutBrackets(std::string_view value) {
  return value.starts_with('[') ? value.substr(1, value.size() - 2) : value;
}

TEST(Catalogue, OnlyATrialWhoseValueIsThatOfTheModelIsPredicted) {
  // `batch=2` is a batch twice as large in a trial, and one of two samples in the model.
  for (const Fix* fix : FixesWithTrial()) {
    if (fix->model.value.empty() || fix->trial.value.empty()) continue;
    EXPECT_EQ(WithoutBrackets(fix->model.value) == WithoutBrackets(fix->trial.value), fix->trial.choice.predictable)
        << fix->name;
  }
}

TEST(Catalogue, AFixThatTakesAValueSaysWhich) {
  for (const Fix* fix : FixesWithTrial()) {
    EXPECT_EQ(fix->trial.value.empty(), fix->trial.grammar.accepts == nullptr) << fix->name;
    EXPECT_EQ(fix->trial.value.empty(), fix->trial.grammar.words.empty()) << fix->name;
    if (fix->trial.grammar.accepts == nullptr) continue;
    for (const char* wrong : {"", "-1", "1e3", "0x4", "nan", "inf", " 4", "4 ", "4.5.6", "1,2", "a/b", "../x.so",
                              "$(id)", "99999999999999999999"})
      EXPECT_FALSE(fix->trial.grammar.accepts(wrong)) << fix->name << "=" << wrong;
  }
  for (const char* good : {"affinity=0-7", "affinity=3", "checkpoint=0.5", "checkpoint=3", "batch=1.5", "nosync=0",
                           "nosync=4", "compile=max-autotune-no-cudagraphs", "workers=0", "fused_optimizer=foreach"})
    EXPECT_TRUE(ParseFixItem(good)) << good;
  for (const char* wrong :
       {"affinity=7-0", "checkpoint=0", "checkpoint=1.5", "batch=0", "nosync=1", "threads=0", "amp=fp8"})
    EXPECT_FALSE(ParseFixItem(wrong)) << wrong;
  EXPECT_EQ(ParseFixItem("amp=fp8").error().message, "the fix amp takes bf16 or fp16, not 'fp8'");
}

TEST(Catalogue, ValuesFitEveryMachineOrAReasonIsGiven) {
  const Pattern kVariable = *Pattern::Make("^[A-Z][A-Z0-9_]*=[^ ]+$", "the test");
  for (const Fix* fix : FixesWithTrial())
    for (const FixContext& context : {FixContext{}, kSmall, kLaptop, kVolta, kLarge}) {
      const FixValues found = fix->trial.values(context);
      EXPECT_NE(found.values.empty(), found.why_not.empty()) << fix->name << ": either values or a reason";
      EXPECT_FALSE(found.why_not.ends_with('.')) << fix->name;
      for (const std::string& value : found.values) {
        EXPECT_EQ(std::ranges::count(found.values, value), 1) << fix->name << "=" << value;
        const FixItem item{fix, value};
        const auto parsed = ParseFixItem(item.ToString());
        ASSERT_TRUE(parsed) << item.ToString() << ": " << parsed.error().message;
        EXPECT_EQ(parsed->value, value);
        if (fix->trial.environment == nullptr) continue;
        for (const std::string& variable : fix->trial.environment(context, value))
          EXPECT_TRUE(kVariable.IsIn(variable)) << variable;
      }
    }
}

std::vector<std::string> Values(std::string_view name, const FixContext& context) {
  return FindFix(name)->trial.values(context).values;
}
using Texts = std::vector<std::string>;

TEST(Catalogue, WorkersAreThoseThatTheProcessorsCanRun) {
  EXPECT_EQ(Values("workers", {.cpus = 1}), (Texts{"1"}));
  EXPECT_EQ(Values("workers", {.cpus = 2}), (Texts{"2"}));
  EXPECT_EQ(Values("workers", {.cpus = 3}), (Texts{"2", "3"}));
  EXPECT_EQ(Values("workers", {.cpus = 8}), (Texts{"4", "2", "8"}));
  EXPECT_EQ(Values("workers", {.cpus = 64, .ranks = 8}), (Texts{"4", "2", "8"}));
  EXPECT_EQ(Values("workers", {.cpus = 4, .ranks = 8}), (Texts{"1"}));
  EXPECT_EQ(Values("workers", {.cpus = 64, .all_values = true}), (Texts{"0", "2", "4", "8", "16"}));
  EXPECT_EQ(Values("workers", {.cpus = 1, .all_values = true}), (Texts{"0", "1"}));
}

TEST(Catalogue, MemoryForALargerBatchIsOneCandidateAndAnotherTraining) {
  EXPECT_EQ(Values("checkpoint_batch", {.gpu = true}), (Texts{"2"}));
  EXPECT_TRUE(Values("checkpoint_batch", {}).empty()) << "no memory of a GPU limits the batch";
  EXPECT_EQ((FixItem{FindFix("checkpoint_batch"), "2"}.Class()), Safety::kTraining);
  const std::vector<Bottleneck> memory = {{.id = "memory_pressure"}};
  const auto skipped = [&](std::span<const Bottleneck> found) -> std::string {
    for (const Candidate& candidate : FindCandidates({.gpu = true}, found, nullptr, {}))
      if (candidate.item.fix->name == "checkpoint_batch") return candidate.skip;
    return "it is no candidate";
  };
  EXPECT_EQ(skipped(memory), "");
  EXPECT_EQ(skipped({}), "no finding supports it");
}

TEST(Catalogue, MixedPrecisionFollowsTheHardware) {
  const auto amp = [](int major) { return Values("amp", {.gpu = true, .compute_major = major}); };
  EXPECT_EQ(amp(6), Texts{});
  EXPECT_EQ(amp(7), (Texts{"fp16"}));
  EXPECT_EQ(amp(8), (Texts{"bf16"}));
  EXPECT_EQ(amp(0), (Texts{"bf16", "fp16"})) << "an unknown GPU";
  EXPECT_EQ(Values("amp", {.bf16_cpu = true}), (Texts{"bf16"}));
  EXPECT_EQ(Values("amp", {}), Texts{});
  EXPECT_TRUE(Values("tf32", {.gpu = true, .compute_major = 7}).empty());
}

TEST(Catalogue, TheAllocatorIsToldByTheNameThatItsVersionKnows) {
  const Fix& fix = *FindFix("allocator");
  EXPECT_EQ(fix.trial.environment({.torch_version = "2.15.0"}, "")[0], "PYTORCH_ALLOC_CONF=expandable_segments:True");
  EXPECT_EQ(fix.trial.environment({.torch_version = "2.4.1"}, "")[0],
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  EXPECT_EQ(fix.trial.environment({}, "")[0], "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
      << "an unknown version";
}

TEST(Catalogue, ItemsAreReadAsTheyAreTyped) {
  EXPECT_EQ(ParseFixItem("workers=4")->ToString(), "workers=4");
  EXPECT_EQ(ParseFixItem("amp")->ToString(), "amp");
  EXPECT_EQ(TrialUsageOf(*FindFix("workers")), "workers=N");
  EXPECT_EQ(TrialUsageOf(*FindFix("amp")), "amp[=TYPE]");
  EXPECT_EQ(TrialUsageOf(*FindFix("tf32")), "tf32");
  EXPECT_EQ(ParseFixItem("worker=4").error().hint, "did you mean workers?");
  for (const char* wrong : {"workers", "workers=", "tf32=1", "amp=", "", "=", "amp=a b", "workers=4;rm", "quantum"})
    EXPECT_FALSE(ParseFixItem(wrong)) << wrong;
}

TEST(Catalogue, VersionsAreCompared) {
  EXPECT_TRUE(TorchIsAtLeast({.torch_version = "2.15.0+cu126"}, 2, 9));
  EXPECT_TRUE(TorchIsAtLeast({.torch_version = "3.0"}, 2, 9));
  EXPECT_FALSE(TorchIsAtLeast({.torch_version = "2.4.1"}, 2, 9));
  for (const char* unknown : {"", "x", "2", "2.x"})
    EXPECT_FALSE(TorchIsAtLeast({.torch_version = unknown}, 2, 1)) << unknown;
  for (const char* enough : {"0.5", "0.5.0", "0.5.2+cu130", "0.10", "1"})
    EXPECT_TRUE(IsVersionAtLeast(enough, "0.5")) << enough;
  for (const char* less : {"0.4.9", "0", "", "?", "git"}) EXPECT_FALSE(IsVersionAtLeast(less, "0.5")) << less;
}

TEST(Catalogue, TheAgentKnowsEachFixAndWhetherItIsLive) {
  std::vector<std::string> missing;
  for (const Fix* fix : FixesWithTrial()) {
    const std::string text = TextOf(ModuleOf(*fix));
    if (text.empty()) missing.emplace_back(fix->name);
    const bool live = text.find("\n    live = True\n") != std::string::npos;
    EXPECT_EQ(live, fix->trial.live.between_steps) << fix->name << " is live on one side only";
  }
  EXPECT_TRUE(missing.empty()) << "the agent has no " << Join(missing, ", ");
  for (const auto& entry : fs::directory_iterator("python/gapless/agent/gapless_agent/fixes")) {
    const std::string name = entry.path().stem().string();
    const bool is_fix = entry.path().extension() == ".py" && !name.starts_with('_');
    EXPECT_TRUE(!is_fix || FindFixWithTrial(name) != nullptr) << "no fix has a trial that is done by " << name;
  }
}

// Four workers on two processors: fewer are tried, each by itself.
TEST(Catalogue, FewerWorkersAndThreadsAreCandidatesWhereProcessorsAreShort) {
  FixContext context{.cpus = 2};
  context.loaders = 1, context.loader_workers = 4;
  std::vector<std::string> items;
  const auto take = [&](std::string_view name) {
    items.clear();
    for (const Candidate& candidate : FindCandidates(context, {}, nullptr, {.only = {{.fix = FindFix(name)}}})) {
      EXPECT_TRUE(candidate.others.empty());
      items.push_back(candidate.item.ToString());
    }
    return items;
  };
  EXPECT_EQ(take("workers"), (std::vector<std::string>{"workers=0", "workers=1"}));
  EXPECT_EQ(take("threads"), (std::vector<std::string>{"threads=1", "threads=2"}));
}

TEST(Catalogue, WithoutALoaderNothingOfALoaderIsRun) {
  FixContext context{.cpus = 8};
  context.loaders = 0;
  for (const char* name : {"workers", "pin", "prefetch_factor", "drop_last"}) {
    const auto found = FindCandidates(context, {}, nullptr, {.only = {{.fix = FindFix(name)}}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].does_not_apply) << name;
    EXPECT_EQ(found[0].skip, "the program reads from no DataLoader") << name;
  }
}

// A program that updates its parameters by hand has nothing to fuse; one that was not recorded may have.
TEST(Catalogue, HasNoFixesOfOptimisersWhereThereIsNone) {
  for (const std::string_view name : {"fused_optimizer", "zero_grad"}) {
    FixContext context{.has_optimizer = false};
    auto found = FindCandidates(context, {}, nullptr, {.only = {{.fix = FindFix(name)}}});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].does_not_apply) << name;
    EXPECT_EQ(found[0].skip, "no optimiser of torch.optim took a step") << name;
    context.has_optimizer.reset();
    found = FindCandidates(context, {}, nullptr, {.only = {{.fix = FindFix(name)}}});
    EXPECT_FALSE(found[0].does_not_apply) << name;
  }
}

}  // namespace
}  // namespace gapless::internal
