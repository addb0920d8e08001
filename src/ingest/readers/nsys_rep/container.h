// SPDX-License-Identifier: Apache-2.0
// The container of a report of Nsight Systems: a directory of sections at its end, and in the section of events a
// header, blocks compressed by LZ4, and what they refer to. docs/formats/nsys_rep.md describes it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/random_access.h"

namespace gapless::internal::nsys_rep {

inline constexpr std::string_view kMagic = "NVIDIA Tegra Profiler Report ";

// Makes the error of a report that cannot be read; the export by nsys itself is the way around.
Unexpected Refuse(const std::string& path, std::string why);

// A Container is one opened report, whose directory and whose messages outside of blocks have been read.
class Container {
 public:
  static Result<std::unique_ptr<Container>> Open(Source& source);

  const std::string& path() const { return path_; }
  const std::string& header_version() const { return header_version_; }
  // Messages; empty where there is none.
  std::string ui_data{}, session{}, index{}, threads{}, target{}, time_conversions{};
  // The message of the block of texts.
  std::string texts{};

  // The blocks of events, one after the other; for several threads. Nothing at the end.
  struct Block {
    uint64_t order = 0, offset = 0;  // place among the blocks, and of its first byte in the file
    uint64_t stored = 0, unpacked = 0;
  };
  Result<std::optional<Block>> NextBlock();
  // Unpacks a block; `message` refers to `unpacked`.
  Result<void> Unpack(const Block& block, std::string& stored, std::string& unpacked, std::string_view& message) const;

 private:
  struct Section {
    uint64_t offset = 0, size = 0;
  };
  Container() = default;
  Result<void> ReadDirectory();
  Result<void> ReadSection(std::string_view name, std::string& bytes);
  Result<uint64_t> PlaceOfTexts();
  Result<void> ReadMessage(uint64_t& offset, std::string& message);
  Result<Block> BlockAt(uint64_t offset, uint64_t end, uint64_t most) const;

  std::string path_{}, header_version_{};
  std::unique_ptr<RandomAccess> input_{};
  std::map<std::string, Section, std::less<>> sections_{};
  std::mutex mutex_{};  // of next_ and order_
  uint64_t next_ = 0, order_ = 0, texts_at_ = 0, end_ = 0;
};

}  // namespace gapless::internal::nsys_rep
