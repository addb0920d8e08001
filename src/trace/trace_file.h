// SPDX-License-Identifier: Apache-2.0
// A trace as one file of columns that is mapped and used in place: opening it costs no parsing and no copying.
//
// Layout: Header {magic, schema hash, file size, checksum of all that follows, length of the directory}, the directory
// (one Entry {offset, bytes} per column in the order of Trace::VisitTables, then the texts' offsets, the texts, the
// info), then the blocks, each aligned to 64 bytes. The schema hash covers names, order and element sizes of all
// columns and kFormat: a file of another version does not fit and is an error. Before anything is used the checksum is
// compared, sizes are checked against the file, and ids, enums, times and orders against their tables
// (trace/trace_check.h), so a damaged file, or one that somebody made, is an error and never a crash.
#pragma once

#include <string>

#include "base/result.h"
#include "trace/trace.h"

namespace gapless::internal {

// Changes with the layout or the meaning of a column.
uint64_t TraceFileSchema();
// Writes to a temporary file beside `path` and renames it, so that nobody sees half a file.
Result<void> WriteTraceFile(const Trace& trace, const std::string& path);
// Maps a file written by WriteTraceFile. The columns live in the mapping. An error when it is a link, belongs to
// somebody else, or others can write it.
Result<Trace> MapTraceFile(const std::string& path);
// Returns the same trace with its columns in a file without a name in `folder`, which is gone with the trace; its
// memory can be given back (Trace::file). An error when the folder cannot be written, or the disk is full.
Result<Trace> MoveToFile(const Trace& trace, const std::string& folder);

}  // namespace gapless::internal
