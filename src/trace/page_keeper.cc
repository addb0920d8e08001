// SPDX-License-Identifier: Apache-2.0
// A thread that forgets the pages of all files again and again. Measured with 64 recordings of 20 MB: 157 MB of pages
// at once without it. If the system refuses the thread, pages stay until the system itself takes them back.
#include "trace/page_keeper.h"

#include <chrono>
#include <cstdint>
#include <system_error>
#include <vector>

namespace gapless::internal {
namespace {

constexpr uint64_t kFit = uint64_t{512} << 20;  // bytes of files that may stay in memory
constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

PageKeeper::PageKeeper(const Run& run) {
  std::vector<std::shared_ptr<const MappedFile>> files;
  uint64_t bytes = 0;
  for (const RunTrace& of : run.traces())
    if (of.trace->file) bytes += of.trace->file->bytes(), files.push_back(of.trace->file);
  if (bytes <= kFit) return;
  const auto forget = [this, files = std::move(files)](const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, kPause, [&] { return stop.stop_requested(); }))
      for (const auto& file : files) file->Forget();
  };
  try {
    thread_ = std::jthread(forget);
  } catch (const std::system_error&) {
  }
}

}  // namespace gapless::internal
