// SPDX-License-Identifier: Apache-2.0
// Parquet, written by pyarrow or Polars from the Arrow stream of a result.
//
// The libraries of C++ that write Parquet would make the program four times as large (libarrow and libparquet are 62 MB
// in pyarrow's wheel, the program 18 MB), and whoever reads Parquet has one of these packages. So a process of Python
// reads the stream from a pipe and writes the file batch by batch.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string_view>

#include "base/result.h"

namespace gapless::internal {

// An error with the line of pip if neither package is installed. Takes as long as Python needs to start.
Result<void> FindParquetPackage();

// One file on its way. Used by one thread; without Finish() the process is ended.
class ParquetProcess {
 public:
  // `file` is open for writing, and stays the caller's.
  static Result<std::unique_ptr<ParquetProcess>> Start(int file);
  ~ParquetProcess();
  ParquetProcess(const ParquetProcess&) = delete;
  ParquetProcess& operator=(const ParquetProcess&) = delete;

  // Takes a part of the stream; false when the process has ended.
  bool Write(std::string_view part);
  // Waits until the file is complete. The process has said on standard error why it is not.
  Result<void> Finish();

 private:
  ParquetProcess(pid_t process, int pipe) : process_(process), pipe_(pipe) {}
  pid_t process_;
  int pipe_;
};

}  // namespace gapless::internal
