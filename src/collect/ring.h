// SPDX-License-Identifier: Apache-2.0
// Reading agents' rings while they are written (python/gapless/agent/README.md). The files belong to processes that are
// not trusted: they are read with pread, never mapped, so that one which shrinks or lies cannot hurt the reader.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/files.h"
#include "wire/agent_ring.h"
#include "wire/ring_texts.h"

namespace gapless::internal {

// A RingReader reads one ring, from its beginning or where reading left off. For one thread.
class RingReader {
 public:
  using OnRecord = std::function<void(const wire::RingRecord&)>;

  // `for_saving`: the position of the reader is written into the ring's header (RingHeader::drained).
  static Result<RingReader> Open(const std::string& path, bool for_saving = false);
  // The same by its name in an open folder; `path` is for messages. Links and what is no plain file are refused.
  static Result<RingReader> OpenIn(int folder, const std::string& name, const std::string& path, bool for_saving);

  // Calls `on_record` for every record since the last call that is still there, in order; those that cannot be
  // are left out, and counted as lost. False: the file has become unreadable.
  bool ReadNew(const OnRecord& on_record);

  const std::string& path() const { return path_; }
  const wire::RingHeader& header() const { return header_; }  // as of the last reading
  uint64_t read() const { return read_; }                     // number of the last record that was taken, or missed
  uint64_t lost() const { return lost_; }                     // overwritten before they were read, or no records

 private:
  RingReader(std::string path, Descriptor file, bool for_saving)
      : path_(std::move(path)), file_(std::move(file)), for_saving_(for_saving) {}
  bool ReadHeader();
  bool ReadRange(uint64_t first, uint64_t last, std::vector<wire::RingRecord>& records) const;

  std::string path_;
  Descriptor file_;
  bool for_saving_;
  wire::RingHeader header_{};
  uint64_t read_ = 0, lost_ = 0;
};

// Returns true if the process exists, also if it belongs to another user.
bool IsAlive(int64_t pid);

}  // namespace gapless::internal
