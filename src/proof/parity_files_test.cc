// SPDX-License-Identifier: Apache-2.0
// Tests the parsing of parity recordings: all fields, absent fields, cut files and hostile counts.
#include "proof/parity_files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "base/strings.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kEvents =
    R"({"optimizer":0,"class":"AdamW","settings":[{"lr":0.002,"nesterov":true},{"lr":0.1}],"tensors":2,"buffers":1,)"
    R"("names":["a.weight","b.weight"],"buffer_names":["norm.mean"],"missing":[1],"samples":32,"rows":4000000000,)"
    R"("order":2,"random":3,"start":4,"state":5,"draws":true,"losses":[0.5,null],"finite":false,)"
    R"("shadow":[1e-7,1e9],"handed":true,"recurrent":true,"precision":"bf16"})"
    "\n"
    R"({"optimizer":1,"class":"SGD","skipped":true})"
    "\n"
    R"({"optimizer":1,"class":"LBFGS","tensors":1,"no_shadow":"it has a line search"})"
    "\n";

// `count` doubles: 0, 1, 2, …
std::string Numbers(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

constexpr size_t kPrint = 1 + kSketchWidth;

TEST(ParityFiles, AllFields) {
  const auto recording = ParseParityRecording(kEvents, Numbers(4 * kPrint), "events.jsonl");
  ASSERT_TRUE(recording);
  ASSERT_EQ(recording->events.size(), 3U);
  const ParityEvent& first = recording->events[0];
  EXPECT_EQ(first.optimizer_class, "AdamW");
  ASSERT_EQ(first.settings.size(), 2U);
  EXPECT_EQ(first.settings[0].at("lr"), "0.002");
  EXPECT_EQ(first.settings[0].at("nesterov"), "true");
  EXPECT_EQ(first.names, (std::vector<std::string>{"a.weight", "b.weight"}));
  EXPECT_EQ(first.buffer_names, std::vector<std::string>{"norm.mean"});
  EXPECT_EQ(first.missing, std::vector<size_t>{1});
  EXPECT_EQ(first.samples, 32);
  EXPECT_EQ(first.rows, 4'000'000'000U);
  EXPECT_EQ(first.start, 4U);
  EXPECT_TRUE(first.draws && first.handed && first.recurrent && !first.finite && !first.skipped);
  EXPECT_EQ(first.losses, (std::vector<std::optional<double>>{0.5, std::nullopt}));
  EXPECT_EQ(*first.shadow, (std::vector<double>{1e-7, 1e9}));
  EXPECT_EQ(first.precision, Precision::kBf16);
  ASSERT_EQ(first.gradients.size(), 2U);
  EXPECT_EQ(first.gradients[1].norm, kPrint);
  EXPECT_EQ(first.gradients[1].sketch[63], 2 * kPrint - 1);
  EXPECT_EQ(first.buffers[0].norm, 2 * kPrint);
  EXPECT_TRUE(recording->events[1].skipped);
  EXPECT_EQ(recording->events[2].no_shadow, "it has a line search");
  EXPECT_EQ(recording->events[2].gradients[0].norm, 3 * kPrint) << "a skipped event has no numbers";
}

TEST(ParityFiles, AbsentIsAbsent) {
  const auto recording = ParseParityRecording("{}", "", "events.jsonl");
  ASSERT_TRUE(recording);
  const ParityEvent& event = recording->events.at(0);
  EXPECT_FALSE(event.samples || event.rows || event.order || event.random || event.start || event.state);
  EXPECT_FALSE(event.shadow || event.precision);
  EXPECT_TRUE(event.finite);
}

TEST(ParityFiles, WhatWasCutOffHoldsTheWholeEvents) {
  for (size_t size = 0; size <= kEvents.size(); ++size) {
    const auto recording = ParseParityRecording(kEvents.substr(0, size), Numbers(4 * kPrint), "events.jsonl");
    ASSERT_TRUE(recording) << size;
    EXPECT_LE(recording->events.size(), 3U);
  }
  EXPECT_EQ(ParseParityRecording(kEvents, Numbers(4 * kPrint - 1), "")->events.size(), 2U);
  EXPECT_EQ(ParseParityRecording(kEvents, Numbers(3 * kPrint - 1), "")->events.size(), 0U);
}

TEST(ParityFiles, AnErrorNamesTheLine) {
  for (const std::string_view bad : {"{\"optimizer\":", "[]", "no"}) {
    const auto recording = ParseParityRecording(StrCat("{}\n", bad, "\n{}\n"), "", "folder/events.jsonl");
    ASSERT_FALSE(recording) << bad;
    EXPECT_EQ(recording.error().place, "folder/events.jsonl:2");
  }
}

// Counts that the numbers do not have take no memory.
TEST(ParityFiles, HostileCounts) {
  for (const std::string_view count : {"-1", "1e300", "9223372036854775807", "1000000", "\"2\"", "null"}) {
    const auto recording =
        ParseParityRecording(StrCat(R"({"tensors":)", count, R"(,"optimizer":)", count, "}"), Numbers(kPrint), "");
    ASSERT_TRUE(recording) << count;
    for (const ParityEvent& event : recording->events) EXPECT_EQ(event.gradients.size(), 0U);
  }
}

TEST(ParityFiles, AFolder) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  EXPECT_TRUE(ReadParityRecording(folder->path())->events.empty());
  std::ofstream(folder->path() + "/events.jsonl", std::ios::binary) << kEvents;
  std::ofstream(folder->path() + "/numbers.f64", std::ios::binary) << Numbers(4 * kPrint);
  EXPECT_EQ(ReadParityRecording(folder->path())->events.size(), 3U);
}

}  // namespace
}  // namespace gapless::internal
