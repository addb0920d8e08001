// SPDX-License-Identifier: Apache-2.0
// Reads heads of summaries and headers of tar members.
// https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
#include "trace/summary_places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

constexpr size_t kNameBytes = 100;
constexpr size_t kSizeAt = 124, kChecksumFieldAt = 148, kKindAt = 156, kUstarAt = 257;
constexpr std::string_view kUstar(
    "ustar\0"
    "00",
    8);

// Reads numbers as tar writes them: octal digits.
uint64_t Octal(std::string_view field) {
  uint64_t value = 0;
  for (const char digit : field)
    if (digit >= '0' && digit <= '7') value = value * 8 + static_cast<uint64_t>(digit - '0');
  return value;
}

// The start of a file from some place on, as far as it goes.
class Heads {
 public:
  explicit Heads(const std::string& path) : in_(path, std::ios::binary) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (in_ && !error) size_ = size;
  }
  uint64_t size() const { return size_; }
  std::string At(uint64_t offset) {
    std::string head(std::min<uint64_t>(kTarBlock, size_ - std::min(size_, offset)), '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<size_t>(in_.gcount()));
    return head;
  }

 private:
  std::ifstream in_;
  uint64_t size_ = 0;
};

void Take(std::string_view head, SummaryPlace place, SummaryPlaces& found) {
  const auto content = HeadOf(head, place.bytes);
  if (!content) {
    Error error = content.error();
    error.place = place.Shown();
    return found.lost.push_back(std::move(error));
  }
  place.content = *content;
  found.places.push_back(std::move(place));
}

void LookInArchive(Heads& heads, const std::string& path, SummaryPlaces& found) {
  for (uint64_t at = 0; at + kTarBlock <= heads.size();) {
    const std::string header = heads.At(at);
    if (header.size() < kTarBlock || header[0] == '\0') break;
    SummaryPlace place{.name = std::string(header.c_str(), strnlen(header.c_str(), kNameBytes)),
                       .file = path,
                       .offset = at += kTarBlock,
                       .bytes = Octal(std::string_view(header).substr(kSizeAt, 12))};
    if (place.bytes > heads.size() - at)
      return found.lost.push_back({ErrorCode::kInput, "the summary is cut off", place.Shown(), ""});
    at += ToTarBlock(place.bytes);
    Take(heads.At(place.offset), std::move(place), found);
  }
}

}  // namespace

std::string SummaryPlace::Shown() const { return offset == 0 ? file : StrCat(file, "!/", name); }

SummaryPlaces SummariesIn(const std::string& path) {
  SummaryPlaces found;
  Heads heads(path);
  const std::string head = heads.At(0);
  if (IsSummary(head))
    Take(head, {.name = path, .file = path, .offset = 0, .bytes = heads.size()}, found);
  else if (head.size() == kTarBlock && head.substr(kUstarAt, 5) == kUstar.substr(0, 5) &&
           IsSummary(heads.At(kTarBlock)))
    LookInArchive(heads, path, found);
  return found;
}

Result<std::string> BytesAt(const std::string& file, uint64_t offset, uint64_t bytes) {
  std::ifstream in(file, std::ios::binary);
  std::string read(bytes, '\0');
  in.seekg(static_cast<std::streamoff>(offset));
  if (!in.read(read.data(), static_cast<std::streamsize>(bytes)))
    return Fail(ErrorCode::kInput, StrCat("cannot be read: ", std::strerror(errno)), file);
  return read;
}

Result<Trace> ReadSummaryAt(const SummaryPlace& place) {
  GAPLESS_ASSIGN(const std::string bytes, BytesAt(place.file, place.offset, place.bytes));
  auto trace = ReadSummary(bytes, &place);
  if (!trace) trace.error().place = place.Shown();
  return trace;
}

std::string TarHeader(std::string_view name, uint64_t bytes) {
  std::string header(kTarBlock, '\0');
  const auto put = [&](size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  std::array<char, 13> size{};
  std::snprintf(size.data(), size.size(), "%011llo", static_cast<unsigned long long>(bytes));
  put(0, name.substr(0, kNameBytes)), put(kNameBytes, "0000644"), put(108, "0000000"), put(116, "0000000");
  put(kSizeAt, size.data()), put(136, "00000000000"), put(kChecksumFieldAt, "        ");
  header[kKindAt] = '0';
  put(kUstarAt, kUstar);
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  std::array<char, 8> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%06o", sum & 0777777U);
  put(kChecksumFieldAt, std::string_view(checksum.data(), 7));  // with its zero; a blank follows
  return header;
}

}  // namespace gapless::internal
