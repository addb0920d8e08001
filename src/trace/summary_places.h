// SPDX-License-Identifier: Apache-2.0
// Finds summaries: each in a file of its own, or many in one file that `gapless merge` wrote, a tar archive (POSIX
// ustar) without compression. Looking reads heads only, and a summary is read where it lies, so that nothing of ten
// thousand of them has to be held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace gapless::internal {

// The place of a summary in a file.
struct SummaryPlace {
  std::string name{};  // of the file, or of the member
  std::string file{};
  uint64_t offset = 0, bytes = 0;
  uint64_t content = 0;  // its checksum, as its head says

  std::string Shown() const;  // "file", or "file!/name" of a member
};

struct SummaryPlaces {
  std::vector<SummaryPlace> places{};
  std::vector<Error> lost{};  // members that are no whole summary
};

// Returns the summaries of a file; nothing if it holds none. The extension does not matter.
SummaryPlaces SummariesIn(const std::string& path);

// Reads a summary, or a part of the file it lies in.
Result<Trace> ReadSummaryAt(const SummaryPlace& place);
Result<std::string> BytesAt(const std::string& file, uint64_t offset, uint64_t bytes);

// A member's header and padding, for who writes such an archive. The name has at most 100 bytes.
inline constexpr size_t kTarBlock = 512;
std::string TarHeader(std::string_view name, uint64_t bytes);
inline uint64_t ToTarBlock(uint64_t bytes) { return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock; }

}  // namespace gapless::internal
