// SPDX-License-Identifier: Apache-2.0
// Replaces the manifest atomically. Space for the last version is reserved at the start, so that a full disk does not
// lose the end of a run.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/strings.h"
#include "collect/manifest.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr off_t kReservedBytes = off_t{1} << 18;  // hundreds of processes

}  // namespace

ManifestFile::ManifestFile(const RunFolder& run, std::string name) : run_(&run), name_(std::move(name)) {}

ManifestFile::ManifestFile(ManifestFile&& other) noexcept
    : run_(other.run_),
      name_(std::move(other.name_)),
      reserve_name_(std::exchange(other.reserve_name_, {})),
      reserve_(std::move(other.reserve_)) {}

void ManifestFile::GiveUpReserve() {
  reserve_ = Descriptor();
  if (!reserve_name_.empty()) ::unlinkat(run_->descriptor(), reserve_name_.c_str(), 0);
  reserve_name_.clear();
}

Result<ManifestFile> ManifestFile::Make(const RunFolder& run, const std::string& name, std::string_view content) {
  ManifestFile file(run, name);
  // The name first: who makes it is the one who has it.
  const Descriptor mine = MakeFileIn(run.descriptor(), name);
  if (!mine && errno == EEXIST)
    return Fail(ErrorCode::kUsage, "the folder for the run is not empty", run.name(),
                "name another with -o; nothing of an earlier run is replaced");
  if (!mine) return SystemFailure("cannot write the file", run.File(name), errno);
  file.reserve_name_ = TemporaryNameFor(name);
  file.reserve_ = MakeFileIn(run.descriptor(), file.reserve_name_);
  // A disk that is nearly full has no place to keep; the run begins all the same.
  if (file.reserve_) (void)::posix_fallocate(file.reserve_.get(), 0, kReservedBytes);
  GAPLESS_TRY(WriteFileIn(run.descriptor(), name, run.File(name), content));
  return file;
}

// Writes into the reserved file, cuts it to length and renames it over the manifest, so the disk needs no new
// space. Without a reserve the manifest is written like any other file.
Result<void> ManifestFile::Replace(std::string_view content) {
  const int folder = run_->descriptor();
  const bool written = reserve_ && ::lseek(reserve_.get(), 0, SEEK_SET) == 0 && WriteAll(reserve_.get(), content) &&
                       ::ftruncate(reserve_.get(), static_cast<off_t>(content.size())) == 0 &&
                       ::renameat(folder, reserve_name_.c_str(), folder, name_.c_str()) == 0;
  if (written) reserve_name_.clear();
  GiveUpReserve();
  return written ? Result<void>() : WriteFileIn(folder, name_, run_->File(name_), content);
}

}  // namespace gapless::internal
