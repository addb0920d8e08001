// SPDX-License-Identifier: Apache-2.0
// Tests the choice of the format by file name, round trips, a full disk, and a sink that is dropped before its end.
#include "convert/compress.h"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <vector>

#include "convert/testing/in_memory.h"

namespace gapless::internal {
namespace {

using testing::TextSink;

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "{\"ph\":\"X\",\"ts\":" + std::to_string(i) + "}\n";
  return text;
}

// Returns the output of the sink for `name` for `text`, given in blocks of odd length.
std::string Through(std::string_view name, std::string_view text) {
  std::string out;
  auto sink = CompressByName(name, std::make_unique<TextSink>(out));
  for (size_t at = 0, length = 1; at < text.size(); at += length, length = length * 3 + 1)
    EXPECT_TRUE(sink->Write(text.substr(at, length)));
  EXPECT_TRUE(sink->Finish());
  return out;
}

std::string Inflate(std::string gzip, size_t size) {
  std::string out(size, '\0');
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(gzip.data());
  state.avail_in = static_cast<uint32_t>(gzip.size());
  state.next_out = reinterpret_cast<uint8_t*>(out.data());
  state.avail_out = static_cast<uint32_t>(out.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);  // checks the sum at the end, too
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH);
  return out;
}

TEST(CompressTest, TheNameOfTheFileDecides) {
  const std::string text = Lines(10);
  EXPECT_EQ(Through("trace.json", text), text);
  EXPECT_EQ(Through("", text), text);
  EXPECT_EQ(Through("trace.json.gz", text).substr(0, 2), "\x1F\x8B");
  EXPECT_EQ(Through("trace.json.zst", text).substr(0, 4), "\x28\xB5\x2F\xFD");
}

TEST(CompressTest, WhatIsCompressedComesOutAgain) {
  for (const int lines : {0, 1, 1000, 100'000}) {
    const std::string text = Lines(lines);
    EXPECT_EQ(Inflate(Through("x.gz", text), text.size()), text) << lines;
    const std::string zstd = Through("x.zst", text);
    std::string out(text.size(), '\0');
    EXPECT_EQ(ZSTD_decompress(out.data(), out.size(), zstd.data(), zstd.size()), text.size()) << lines;
    EXPECT_EQ(out, text) << lines;
  }
}

TEST(CompressTest, AFullDiskEndsTheWritingAndIsTold) {
  for (const std::string_view name : {"x.gz", "x.zst"}) {
    std::string out;
    auto sink = CompressByName(name, std::make_unique<TextSink>(out, 100));
    const std::string text = Lines(100'000);
    bool good = true;
    for (int i = 0; good && i < 100; ++i) good = sink->Write(text);
    EXPECT_FALSE(good) << name;
    EXPECT_FALSE(sink->Finish()) << name;
  }
}

TEST(CompressTest, ASinkThatIsNotFinishedCanGo) {
  std::string out;
  auto sink = CompressByName("x.gz", std::make_unique<TextSink>(out));
  EXPECT_TRUE(sink->Write(Lines(10)));
}

}  // namespace
}  // namespace gapless::internal
