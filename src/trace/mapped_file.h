// SPDX-License-Identifier: Apache-2.0
// A file that is mapped into memory and read in place. Its pages count as the memory of the process only while they are
// in use: Forget() gives them back, and the next access fetches them from the file again.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace gapless::internal {

class MappedFile {
 public:
  // An error when it is a link, belongs to somebody else, or others can write it: it could change under the reader.
  static Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  // Maps what was written to `fd`, and closes it.
  static Result<std::shared_ptr<const MappedFile>> Take(int fd);
  MappedFile(const std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Gives the memory back to the system. Other threads may read the file meanwhile.
  void Forget() const;

 private:
  const std::byte* data_;
  size_t bytes_;
};

// Opens a file without a name in `folder`, for reading and writing, that is gone when it is closed and no longer
// mapped. Returns -1 with errno if there is no such folder, or it cannot be written.
int OpenNameless(const std::string& folder);

}  // namespace gapless::internal
