// SPDX-License-Identifier: Apache-2.0
// Files and folders that nobody else on the machine may put in another's place.
//
// A run folder holds code that runs as the one who profiles, and what was recorded of a program. Who may write in a
// folder, or in one above it, can put a link or a file of their own where ours is expected. So folders are opened once,
// without following links, and what is in them is made and opened by name inside the open folder; names of files that
// are only made to be renamed cannot be guessed; and code is loaded only from below folders that nobody else can
// change.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "collect/files.h"

namespace gapless::internal {

inline constexpr mode_t kOwnFolder = 0700, kOwnFile = 0600;

// The open folder `name` in `folder` (AT_FDCWD: of the current one, or absolute). None, with errno, where it is a link
// or no folder.
Descriptor OpenFolder(int folder, const std::string& name);
// Makes the folder if it is not there, and those above it up to `folder`, for its owner only; `below` is relative. An
// error where one of them is a link or belongs to somebody else. `path` is for messages.
Result<Descriptor> MakeFolderIn(int folder, std::string_view below, const std::string& path);

// A new file for its owner only; none, with errno EEXIST, where there is something of that name.
Descriptor MakeFileIn(int folder, const std::string& name, int flags = 0);
// A file that is there, and neither a link nor a pipe nor a device; none, with errno, otherwise. `flags`: O_RDONLY …
Descriptor OpenPlainFile(int folder, const std::string& name, int flags);
// Does what WriteFileAtomically() does, in an open folder.
Result<void> WriteFileIn(int folder, const std::string& name, const std::string& path, std::string_view content,
                         mode_t mode = kOwnFile);
// A name beside `name` that cannot be guessed, for a file that is renamed to it when it is complete.
std::string TemporaryNameFor(const std::string& name);
bool IsTemporaryName(std::string_view name);
// All of `content`, wherever the file's position is; false with errno.
bool WriteAll(int file, std::string_view content);
// Writes a value at a place of an open file; false with errno.
template <class T>
bool WriteAt(int file, const T& value, uint64_t offset) {
  return ::pwrite(file, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
}

// The users besides the owner and root that can write to this open folder, or can give themselves the right to.
enum class FolderWriter { kNobodyElse, kOthers, kAnotherOwner };
FolderWriter WriterOf(int folder);
// The first folder, or link, on the way down to `path` and that itself, which somebody else could put another in place
// of or, for `path`, could write in. Empty: nobody else can. What cannot be looked at counts as one.
std::string ChangeableByOthers(const std::string& path);

}  // namespace gapless::internal
