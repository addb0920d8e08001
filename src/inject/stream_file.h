// SPDX-License-Identifier: Apache-2.0
// RUN/<main|rankN>/cupti-<pid>.gcs. Folder and file are made when the first block comes; a process that changed its
// program (exec) finds a file of its pid and takes cupti-<pid>-2.gcs, and so on. What write() has taken survives
// SIGKILL.
#pragma once

#include "inject/block.h"
#include "inject/process.h"

namespace gapless::internal::inject {

class StreamFile : public BlockSink {
 public:
  StreamFile() = default;
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  // Keeps the run's folder and the rank for when the file is made. A path that is too long counts as a failed
  // write.
  void Prepare(const char* run_folder, const Rank& rank, int64_t start_unix_ns);
  void Write(const uint8_t* block, size_t bytes, uint32_t records) override;
  // Closes the file; blocks that come later are counted as lost.
  void Close();

  uint64_t bytes_written() const { return bytes_written_; }
  // Records that could not be written, ever. The file says so, too, if it could be made. After the first failure none
  // is tried again: the disk is full or gone.
  uint64_t lost_records() const { return lost_records_; }

 private:
  bool Open();
  bool MakeFile(int folder);
  bool WriteAll(const void* bytes, size_t size);

  int fd_ = -1;
  bool failed_ = false;
  uint64_t lost_records_ = 0, bytes_written_ = 0;
  Rank rank_;
  int64_t start_unix_ns_ = 0;
  char folder_[3072] = "";
};

}  // namespace gapless::internal::inject
