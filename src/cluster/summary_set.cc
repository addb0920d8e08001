// SPDX-License-Identifier: Apache-2.0
// Reads the heads of summaries and of tar members, and writes a tar archive (POSIX ustar) with fixed owners and times.
#define XXH_INLINE_ALL
#include "cluster/summary_set.h"

#include <xxhash.h>

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
constexpr size_t kMaxBaseName = 60;  // bytes, so that a name with its checksum fits into a header
constexpr size_t kCopyBytes = size_t{1} << 20;

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
    SummaryPlaces found = SummariesIn(path);
    if (found.places.empty() && found.lost.empty()) Lose(path, "is no summary");
    std::ranges::move(found.lost, std::back_inserter(set_.lost));
    for (SummaryPlace& place : found.places) {
      place.name = StrCat(BaseOf(place.name), "-", HexOf(place.content), kSummaryExtension);
      const auto [known, is_new] = found_.try_emplace(place.content, place);
      if (!is_new && place.name < known->second.name) known->second = std::move(place);
    }
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

  SummarySet set_{};
  std::map<uint64_t, SummaryPlace> found_{};  // by checksum
};

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

std::string SummaryFileName(int64_t rank, std::string_view path) {
  const std::string name = SummaryName(rank, path);
  return rank != kAbsent ? name : StrCat(name, "-", HexOf(XXH3_64bits(path.data(), path.size())));
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
    if (!write(TarHeader(place.name, place.bytes))) return false;
    in.clear(), in.seekg(static_cast<std::streamoff>(place.offset));
    for (uint64_t left = place.bytes; left > 0;) {
      const uint64_t part = std::min<uint64_t>(left, buffer.size());
      if (!in.read(buffer.data(), static_cast<std::streamsize>(part)))
        return Fail(ErrorCode::kInput, "changed while it was merged", place.file);
      if (!write(std::string_view(buffer).substr(0, part))) return false;
      left -= part;
    }
    if (!write(std::string(ToTarBlock(place.bytes) - place.bytes, '\0'))) return false;
  }
  return write(std::string(2 * kTarBlock, '\0'));
}

}  // namespace gapless::internal
