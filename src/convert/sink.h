// SPDX-License-Identifier: Apache-2.0
// Sinks take a writer's bytes: one file, a stream, or the files of a directory. The command that calls a writer
// supplies them.
//
// A Sink is one file, from first to last byte. Not thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

// One file, from first to last byte. Not thread-safe.
class Sink {
 public:
  virtual ~Sink() = default;
  // Returns false if the sink takes nothing more; Finish() returns the reason.
  virtual bool Write(std::string_view block) = 0;
  // Ends the file; to be called once. Returns success when all of it was taken, or when nobody wants it any more
  // (a pipe's reader has gone).
  virtual Result<void> Finish() = 0;
};

// A Destination opens the files that a writer makes. It must outlive their sinks.
class Destination {
 public:
  virtual ~Destination() = default;
  // False: everything goes into one file, and Open() may be called once.
  virtual bool is_folder() const = 0;
  // The file of that name in the folder; without a folder the name means nothing. Ends such as ".json.gz" decide how
  // the bytes are compressed (compress.h).
  virtual Result<std::unique_ptr<Sink>> Open(std::string_view name) = 0;
};

}  // namespace gapless::internal
