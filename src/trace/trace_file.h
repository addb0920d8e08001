// SPDX-License-Identifier: Apache-2.0
// A trace as one file of columns that is mapped and used in place: opening it costs no parsing and no copying.
//
// Layout: Header {magic, schema hash, file size, checksum of the directory, its length}, the directory (one Entry
// {offset, bytes} per column in the order of Trace::VisitTables, then the texts' offsets, the texts, the info), then
// the blocks, each aligned to 64 bytes. The schema hash covers names, order and element sizes of all columns and
// kFormat: a file of another version does not fit and is an error. Sizes are checked against the file, and ids against
// their tables, before anything is used, so a damaged file is an error and never a crash.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/trace.h"

namespace gapless::internal {

// Changes with the layout or the meaning of a column.
uint64_t TraceFileSchema();
// Writes to a temporary file beside `path` and renames it, so that nobody sees half a file.
Result<void> WriteTraceFile(const Trace& trace, const std::string& path);
// Maps a file written by WriteTraceFile. The columns live in the mapping.
Result<Trace> MapTraceFile(const std::string& path);

}  // namespace gapless::internal
