// SPDX-License-Identifier: Apache-2.0
// The container of a report of Nsight Compute: blocks one after the other, each a header and a payload of messages.
// docs/formats/ncu_rep.md describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/random_access.h"

namespace gapless::internal::ncu_rep {

inline constexpr std::string_view kMagic("NVR\0", 4);
inline constexpr uint64_t kKnownVersion = 7;  // of the container, in reports of ncu 2020 to 2025

// Makes the error of a report that cannot be read; the table that ncu prints is the way around.
Unexpected Refuse(const std::string& path, std::string why);

// The header of a block.
struct Block {
  uint64_t offset = 0;                           // of its first byte in the file
  uint64_t sources = 0, results = 0, other = 0;  // messages in its payload, in this order
  uint64_t payload = 0, size = 0;                // where it begins, how many bytes it has
  std::vector<std::string> names{};              // further names, for all later messages
  std::vector<std::string> session{};            // messages about the session
  int64_t pid = -1;                              // of the process that the block is about; below 0: not said
  std::string process{};                         // its path
};

// A Piece is where a message lies in the file.
struct Piece {
  uint64_t offset = 0, size = 0;
};

// A Container is an opened report, whose beginning has been read. It is read from the front to the end.
class Container {
 public:
  static Result<std::unique_ptr<Container>> Open(Source& source);

  enum class Found : uint8_t { kBlock, kEnd, kCutOff, kDamaged };
  // Goes to the next block. A block whose payload the file does not hold whole is given, too; the next call says that
  // the file was cut off.
  Found Next(Block& block);
  // Goes over the next message of the current block, which may be read later, or reads it. False: it is not all there.
  bool Skip(Piece* piece = nullptr);
  bool Read(std::string& message);

  bool ReadAt(const Piece& piece, std::string& message) const {
    return input_->Read(piece.offset, piece.size, message);
  }

  uint64_t offset() const { return at_; }
  const std::string& path() const { return path_; }

 private:
  Container() = default;
  bool TakeSize(uint64_t end, uint64_t& size);
  static bool TakeHeader(std::string_view header, Block& block);

  std::string path_{};
  std::unique_ptr<RandomAccess> input_{};
  uint64_t at_ = 0, message_ = 0, end_ = 0;  // the next block, the next message, the end of the payload
};

}  // namespace gapless::internal::ncu_rep
