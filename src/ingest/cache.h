// SPDX-License-Identifier: Apache-2.0
// Keeps read recordings as column files (trace/trace_file.h), so that opening one again costs no parsing.
//
// In $XDG_CACHE_HOME/gapless, or ~/.cache/gapless; GAPLESS_CACHE_BYTES bounds it (default 4 GiB), least recently used
// goes first. A key is made of the file's path, size, time of change, a hash of its first and last 64 KiB and the
// version of the columns. The folder is 0700 and its owner's own, no link; where it is not, or cannot be written, there
// is no cache. A file in it that is damaged, of somebody else or from elsewhere is dropped and made again. Nothing else
// is ever written.
#pragma once

#include <memory>
#include <string>

#include "trace/trace.h"

namespace gapless::internal {

// Returns the path of the cache file for the input `path`. Returns "" when the file cannot be cached (not a
// regular file, smaller than 1 MiB, no directory, cache turned off).
std::string CacheKey(const std::string& path);
// Returns the trace stored under `key` and marks it as used now, or null. Maps the file into memory instead of
// reading it. A cache file that is damaged, or of another version, is deleted.
std::shared_ptr<Trace> TakeFromCache(const std::string& key);
// Stores the trace under `key`, and evicts old ones over the bound. A trace that is larger than the whole bound is
// not stored. A failure is not reported: a cache is a convenience.
void PutIntoCache(const std::string& key, const Trace& trace);

}  // namespace gapless::internal
