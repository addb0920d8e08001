// SPDX-License-Identifier: Apache-2.0
#include "collect/run_folder.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <filesystem>

#include "base/strings.h"
#include "collect/embedded.h"
#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr int kMostDefaultFolders = 100'000;

std::string ChecksumOf(std::string_view content) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(content.data(), content.size()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace

Result<RunFolder> RunFolder::Make(std::string_view wanted) {
  if (!wanted.empty()) {
    const std::string path = Absolute(std::string(wanted));
    std::error_code error;
    if (std::filesystem::exists(path, error) && !NamesIn(path).empty())
      return Fail(ErrorCode::kUsage, "the folder for the run is not empty", std::string(wanted),
                  "name another with -o; nothing of an earlier run is replaced");
    if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error))
      return Fail(ErrorCode::kUsage, "this is a file, not a folder", std::string(wanted));
    const bool was_there = std::filesystem::is_directory(path, error);
    GAPLESS_TRY(MakeFolders(path));
    return RunFolder(path, std::string(wanted), !was_there);
  }
  for (int number = 1; number <= kMostDefaultFolders; ++number) {
    const std::string name = number == 1 ? std::string(kDefaultRunFolder) : StrCat(kDefaultRunFolder, "-", number);
    const std::string path = Absolute(name);
    if (::mkdir(path.c_str(), 0755) == 0) return RunFolder(path, name, true);
    if (errno != EEXIST) return SystemFailure("cannot make the folder of the run", path, errno);
  }
  return Fail(ErrorCode::kEnvironment, "there are too many run folders here", "", "name one with -o");
}

Result<std::vector<UnpackedFile>> RunFolder::UnpackTools() const {
  std::vector<UnpackedFile> unpacked;
  GAPLESS_TRY(MakeFolders(File("tools"), 0700));
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    const std::string below = StrCat("tools/", file.path);
    const std::string path = File(below);
    GAPLESS_TRY(MakeFolders(std::filesystem::path(path).parent_path().string(), 0700));
    GAPLESS_TRY(WriteFileAtomically(path, file.content, file.mode));
    if (ContentOf(path, file.content.size() + 1) != file.content)
      return Fail(ErrorCode::kEnvironment, "the agent could not be unpacked: what was written reads back differently",
                  path);
    unpacked.push_back({below, ChecksumOf(file.content)});
  }
  return unpacked;
}

}  // namespace gapless::internal
