// SPDX-License-Identifier: Apache-2.0
// Reads the heads of summaries and of tar members, and writes a tar archive (POSIX ustar) with fixed owners and times.
#include "cluster/summary_set.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "base/strings.h"
#include "trace/ids.h"
#include "trace/summary_file.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
constexpr size_t kTarBlock = 512;
constexpr size_t kMaxBaseName = 60;  // bytes, so that a name with its checksum fits into a header
constexpr size_t kCopyBytes = size_t{1} << 20;
using TarHeader = std::array<char, kTarBlock>;

uint64_t ToBlock(uint64_t bytes) { return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock; }

// Reads numbers as tar writes them: octal digits.
uint64_t Octal(std::string_view field) {
  uint64_t value = 0;
  for (const char digit : field)
    if (digit >= '0' && digit <= '7') value = value * 8 + static_cast<uint64_t>(digit - '0');
  return value;
}

std::string HexOf(uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

// Takes the checksum off a name that a merge gave.
std::string BaseOf(std::string_view name) {
  name = name.substr(name.find_last_of('/') + 1);
  if (name.ends_with(kSummaryExtension)) name.remove_suffix(kSummaryExtension.size());
  constexpr size_t kSuffix = 17;  // "-" and 16 digits
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (name.size() > kSuffix && name[name.size() - kSuffix] == '-' &&
      std::ranges::all_of(name.substr(name.size() - kSuffix + 1), is_hex))
    name.remove_suffix(kSuffix);
  return SummaryName(kAbsent, name);
}

// Collects what is found; of one content the name that comes first stays.
class Finder {
 public:
  void Look(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return LookInFolder(path);
    std::ifstream in(path, std::ios::binary);
    const uint64_t size = in ? fs::file_size(path, error) : 0;
    if (!in || error) return Lose(path, StrCat("cannot be read: ", std::strerror(errno)));
    const std::string head = HeadAt(in, 0, size);
    if (IsSummary(head)) return Take(head, {.name = path, .file = path, .offset = 0, .bytes = size}, path);
    if (head.size() == kTarBlock && head.substr(257, 5) == "ustar") return LookInArchive(in, path, size);
    Lose(path, "is no summary");
  }

  SummarySet Found() && {
    for (auto& [content, place] : found_) set_.places.push_back(std::move(place));
    std::ranges::sort(set_.places, {}, &SummaryPlace::name);
    return std::move(set_);
  }

 private:
  void Lose(const std::string& path, std::string why) {
    set_.lost.push_back({ErrorCode::kInput, std::move(why), path, "gapless summarize writes summaries"});
  }

  void LookInFolder(const std::string& path) {
    std::vector<std::string> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == kSummaryExtension || entry.path().extension() == ".tar")
        files.push_back(entry.path().string());
    if (files.empty()) return Lose(path, "holds no summary");
    std::ranges::sort(files);
    for (const std::string& file : files) Look(file);
  }

  static std::string HeadAt(std::ifstream& in, uint64_t offset, uint64_t size) {
    std::string head(std::min<uint64_t>(kTarBlock, size - std::min(size, offset)), '\0');
    in.clear();
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<size_t>(in.gcount()));
    return head;
  }

  void LookInArchive(std::ifstream& in, const std::string& path, uint64_t size) {
    for (uint64_t at = 0; at + kTarBlock <= size;) {
      const std::string header = HeadAt(in, at, size);
      if (header.size() < kTarBlock || header[0] == '\0') break;
      const std::string name(header.c_str(), strnlen(header.c_str(), 100));
      const uint64_t bytes = Octal(std::string_view(header).substr(124, 12));
      const std::string place = StrCat(path, "!/", name);
      at += kTarBlock;
      if (bytes > size - at) return Lose(place, "is cut off");
      const std::string head = HeadAt(in, at, size);
      if (IsSummary(head))
        Take(head, {.name = name, .file = path, .offset = at, .bytes = bytes}, place);
      else
        Lose(place, "is no summary");
      at += ToBlock(bytes);
    }
  }

  void Take(std::string_view head, SummaryPlace place, const std::string& shown) {
    const auto content = HeadOf(head, place.bytes);
    if (!content) return Lose(shown, content.error().message);
    const std::string base = BaseOf(place.name);
    place.name = StrCat(base, "-", HexOf(*content), kSummaryExtension);
    const auto [known, is_new] = found_.try_emplace(*content, place);
    if (!is_new && place.name < known->second.name) known->second = std::move(place);
  }

  SummarySet set_{};
  std::map<uint64_t, SummaryPlace> found_{};  // by checksum
};

TarHeader HeaderOf(const SummaryPlace& place) {
  TarHeader header{};
  const auto put = [&](size_t at, std::string_view text) {
    std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  std::array<char, 13> size{};
  std::snprintf(size.data(), size.size(), "%011llo", static_cast<unsigned long long>(place.bytes));
  put(0, std::string_view(place.name).substr(0, 100)), put(100, "0000644"), put(108, "0000000"), put(116, "0000000");
  put(124, size.data()), put(136, "00000000000"), put(148, "        ");
  header[156] = '0';
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  std::array<char, 8> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%06o", sum);
  put(148, std::string_view(checksum.data(), 7));  // with its zero; a blank follows
  return header;
}

}  // namespace

std::string SummaryName(int64_t rank, std::string_view path) {
  if (rank != kAbsent) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "rank-%05lld", static_cast<long long>(rank));
    return text.data();
  }
  std::string name;
  for (const char c : path.substr(path.find_last_of('/') + 1).substr(0, kMaxBaseName)) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_';
    name += plain || c == '-' ? c : '_';
  }
  return name.empty() || name.starts_with('.') ? StrCat("summary", name) : name;
}

Result<SummarySet> FindSummaries(const std::vector<std::string>& paths) {
  Finder finder;
  for (const std::string& path : paths) finder.Look(path);
  SummarySet set = std::move(finder).Found();
  if (set.places.empty() && !set.lost.empty()) return Unexpected{set.lost.front()};
  return set;
}

Result<bool> WriteMerged(const SummarySet& set, const std::function<bool(std::string_view)>& write) {
  std::string buffer(kCopyBytes, '\0');
  std::ifstream in;
  std::string opened;
  for (const SummaryPlace& place : set.places) {
    if (place.file != opened) in = std::ifstream(opened = place.file, std::ios::binary);
    const TarHeader header = HeaderOf(place);
    if (!write({header.data(), header.size()})) return false;
    in.clear(), in.seekg(static_cast<std::streamoff>(place.offset));
    for (uint64_t left = place.bytes; left > 0;) {
      const uint64_t part = std::min<uint64_t>(left, buffer.size());
      if (!in.read(buffer.data(), static_cast<std::streamsize>(part)))
        return Fail(ErrorCode::kInput, "changed while it was merged", place.file);
      if (!write(std::string_view(buffer).substr(0, part))) return false;
      left -= part;
    }
    if (!write(std::string(ToBlock(place.bytes) - place.bytes, '\0'))) return false;
  }
  return write(std::string(2 * kTarBlock, '\0'));
}

}  // namespace gapless::internal
