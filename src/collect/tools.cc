// SPDX-License-Identifier: Apache-2.0
// Unpacks the embedded agent and libraries into the run directory, or into a private temporary directory if others
// can change the run directory. The checksum of each file goes into the manifest. What was written is read back
// and compared, because processes will load it as code.
#include "collect/tools.h"

#include <fcntl.h>
#include <xxhash.h>

#include <cerrno>

#include "base/strings.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kTools = "tools";

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

// Another launcher of the run may have written the file, or be about to.
Result<void> Unpack(const EmbeddedFile& file, int folder, const std::string& path) {
  const size_t slash = file.path.rfind('/') + 1;  // 0 without a slash
  const std::string name(file.path.substr(slash));
  Descriptor in = slash == 0 ? Descriptor(::fcntl(folder, F_DUPFD_CLOEXEC, 0)) : Descriptor();
  if (slash != 0) {
    GAPLESS_ASSIGN(in, MakeFolderIn(folder, file.path.substr(0, slash - 1), path));
  }
  const auto content = [&] {
    return ContentOf(OpenPlainFile(in.get(), name, O_RDONLY).get(), file.content.size() + 1);
  };
  const bool there = static_cast<bool>(OpenPlainFile(in.get(), name, O_RDONLY));
  if (there && content() != file.content)
    return Fail(ErrorCode::kEnvironment, "another version of gapless started this run", path,
                "all its launchers must be of one version");
  if (!there) GAPLESS_TRY(WriteFileIn(in.get(), name, path, file.content, file.mode));
  if (content() == file.content) return {};
  return Fail(ErrorCode::kEnvironment, "the agent could not be unpacked: what was written reads back differently",
              path);
}

Result<Tools> UnpackInto(const RunFolder& run) {
  Tools tools{.folder = run.File(kTools), .files = {}, .elsewhere = {}};
  GAPLESS_ASSIGN(const auto folder, MakeFolderIn(run.descriptor(), kTools, tools.folder));
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    GAPLESS_TRY(Unpack(file, folder.get(), StrCat(tools.folder, "/", file.path)));
    tools.files.push_back({StrCat(kTools, "/", file.path), ChecksumOf(file.content)});
  }
  return tools;
}

// The files then stay only as long as the launcher: the directory is removed with the Tools.
Result<Tools> UnpackElsewhere() {
  GAPLESS_ASSIGN(auto made, TemporaryFolder::MakeForCode());
  Tools tools{.folder = made.path(), .files = {}, .elsewhere = std::move(made)};
  const Descriptor folder = OpenFolder(AT_FDCWD, tools.folder);
  if (!folder) return SystemFailure("cannot open the folder for the agent", tools.folder, errno);
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    const std::string path = StrCat(tools.folder, "/", file.path);
    GAPLESS_TRY(Unpack(file, folder.get(), path));
    tools.files.push_back({path, ChecksumOf(file.content)});
  }
  return tools;
}

}  // namespace

Result<Tools> UnpackTools(const RunFolder& run) {
  return ChangeableByOthers(run.path()).empty() ? UnpackInto(run) : UnpackElsewhere();
}

}  // namespace gapless::internal
