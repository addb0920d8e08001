// SPDX-License-Identifier: Apache-2.0
// Tests byte sources: plain, gzip, Zstandard and tar, several members, cut and damaged streams.
#include "ingest/source.h"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace gapless::internal {
namespace {

std::string Gzip(std::string_view text) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string out(text.size() + 1024, '\0');
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.flush = NO_FLUSH;
  stream.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = reinterpret_cast<uint8_t*>(out.data());
  stream.avail_out = static_cast<uint32_t>(out.size());
  isal_deflate(&stream);
  out.resize(stream.total_out);
  return out;
}

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// One ustar member.
std::string TarMember(const std::string& name, const std::string& body) {
  std::string header(512, '\0');
  std::memcpy(header.data(), name.data(), name.size());
  std::snprintf(header.data() + 124, 12, "%011o", static_cast<unsigned>(body.size()));
  header[156] = '0';
  std::memcpy(header.data() + 257, "ustar", 5);
  std::memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(header.data() + 148, 8, "%06o", sum);
  return header + body + std::string((512 - body.size() % 512) % 512, '\0');
}

class SourceTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
    return folder_ + "/" + name;
  }
  static Result<std::string> ReadAll(Source& source, size_t piece = 1000) {
    GAPLESS_ASSIGN(auto stream, source.Open());
    std::string all, buffer(piece, '\0');
    while (true) {
      GAPLESS_ASSIGN(auto got, stream->Read(buffer.data(), buffer.size()));
      if (got == 0) return all;
      all.append(buffer, 0, got);
    }
  }
  Result<std::string> ReadFile(const std::string& name, const std::string& bytes) const {
    GAPLESS_ASSIGN(auto source, OpenFile(Write(name, bytes)));
    return ReadAll(*source);
  }
  std::string folder_ =
      ::testing::TempDir() + "/gapless_source_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string text_ = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i * 7919 % 100'003) + "\n";
    return text;
  }();
};

TEST_F(SourceTest, PlainGzipAndZstandardGiveTheSameBytes) {
  EXPECT_EQ(*ReadFile("a.json", text_), text_);
  EXPECT_EQ(*ReadFile("a.json.gz", Gzip(text_)), text_);
  EXPECT_EQ(*ReadFile("a.json.zst", Zstd(text_)), text_);
}

TEST_F(SourceTest, ContentDecidesAndNotTheName) { EXPECT_EQ(*ReadFile("really-gzip.json", Gzip(text_)), text_); }

TEST_F(SourceTest, SeveralMembersAreOneStream) {
  EXPECT_EQ(*ReadFile("two.gz", Gzip("first ") + Gzip("second")), "first second");
  EXPECT_EQ(*ReadFile("two.zst", Zstd("first ") + Zstd("second")), "first second");
}

TEST_F(SourceTest, EmptyFilesAreEmpty) { EXPECT_EQ(*ReadFile("empty", ""), ""); }

// The text before the damage is delivered; then comes the error.
TEST_F(SourceTest, CutOffStreamsDeliverWhatTheyHold) {
  for (const std::string& packed : {Gzip(text_), Zstd(text_)}) {
    auto source = OpenFile(Write("cut", packed.substr(0, packed.size() / 2)));
    ASSERT_TRUE(source);
    auto stream = (*source)->Open();
    ASSERT_TRUE(stream);
    std::string all, buffer(4096, '\0');
    bool failed = false;
    while (!failed) {
      auto got = (*stream)->Read(buffer.data(), buffer.size());
      failed = !got;
      if (got) {
        ASSERT_GT(*got, 0U) << "a cut-off stream must not end quietly";
        all.append(buffer, 0, *got);
      }
    }
    EXPECT_GT(all.size(), 1000U);
    EXPECT_TRUE(text_.starts_with(all));
  }
}

TEST_F(SourceTest, DamagedStreamsAreErrors) {
  std::string packed = Gzip(text_);
  for (size_t i = 20; i < packed.size(); i += 97) packed[i] = static_cast<char>(packed[i] + 13);
  EXPECT_FALSE(ReadFile("bad.gz", packed));
}

TEST_F(SourceTest, WhatIsNotThereIsAnErrorThatNamesIt) {
  const auto missing = OpenFile(folder_ + "/none.json");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().place.find("none.json"), std::string::npos);
  EXPECT_FALSE(OpenFile(folder_));
}

TEST_F(SourceTest, TarMembersStreamInOrder) {
  const std::string tar = TarMember("dir/a.json", text_) + TarMember("b.json", "second") + std::string(1024, '\0');
  for (const std::string& bytes : {tar, Gzip(tar), Zstd(tar)}) {
    const std::string path = Write("archive.tar", bytes);
    EXPECT_TRUE(IsTar(**OpenFile(path)));
    std::vector<std::string> names, bodies;
    ASSERT_TRUE(ForEachTarMember(**OpenFile(path), [&](Source& member) {
      names.push_back(member.path());
      bodies.push_back(*ReadAll(member));
      EXPECT_EQ(*ReadAll(member), bodies.back()) << "a member can be opened again";
    }));
    EXPECT_EQ(names, (std::vector<std::string>{path + "!/dir/a.json", path + "!/b.json"}));
    EXPECT_EQ(bodies, (std::vector<std::string>{text_, "second"}));
  }
}

// A reader looks at the beginning, is chosen, and begins again: what was read is kept up to a megabyte.
TEST_F(SourceTest, TarMembersBeginAgainHoweverMuchWasRead) {
  std::string body(3'000'000, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 + i / 251);
  const std::string path = Write("archive.tar", Gzip(TarMember("a", body) + std::string(1024, '\0')));
  for (const size_t first : {size_t{1}, size_t{65'536}, size_t{1} << 20, (size_t{1} << 20) + 1, body.size()}) {
    ASSERT_TRUE(ForEachTarMember(**OpenFile(path), [&](Source& member) {
      {
        auto stream = member.Open();
        ASSERT_TRUE(stream);
        std::string head(first, '\0');
        for (size_t done = 0; done < first;) done += *(*stream)->Read(head.data() + done, first - done);
        EXPECT_EQ(head, body.substr(0, first));
      }
      EXPECT_TRUE(*ReadAll(member) == body) << "after " << first << " bytes";
      EXPECT_TRUE(*ReadAll(member) == body) << "again, after all of it";
    }));
  }
}

TEST_F(SourceTest, UnreadMembersAreSkipped) {
  const std::string path =
      Write("archive.tar", TarMember("a", text_) + TarMember("b", "second") + std::string(1024, '\0'));
  std::string last;
  ASSERT_TRUE(ForEachTarMember(**OpenFile(path), [&](Source& member) {
    if (member.path().ends_with("/b")) last = *ReadAll(member);
  }));
  EXPECT_EQ(last, "second");
}

TEST_F(SourceTest, CutOffArchivesAreErrorsAfterTheirWholeMembers) {
  const std::string tar = TarMember("a", "first") + TarMember("b", text_);
  int members = 0;
  bool member_failed = false;
  (void)ForEachTarMember(**OpenFile(Write("cut.tar", tar.substr(0, tar.size() - 700))), [&](Source& member) {
    ++members;
    member_failed = !ReadAll(member);
  });
  EXPECT_EQ(members, 2);
  EXPECT_TRUE(member_failed);
}

TEST_F(SourceTest, OtherFilesAreNoTar) { EXPECT_FALSE(IsTar(**OpenFile(Write("a.json", text_)))); }

}  // namespace
}  // namespace gapless::internal
