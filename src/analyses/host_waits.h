// SPDX-License-Identifier: Apache-2.0
// The activity of a function of the host, as far as its name and file say: waits, loads data, or waits for the GPU.
#pragma once

#include <algorithm>
#include <string_view>

#include "analyses/user_code.h"

namespace gapless::internal {

// Functions that run no code but wait: for a lock, a socket, a file, another thread's backward pass, or asleep. Those
// of Python as recorders name them, and calls of the operating system as profilers of processes do.
inline bool IsWaitingCall(std::string_view name) {
  static constexpr std::string_view kWaiting[] = {
      "acquire",         "wait",    "poll",        "select", "join",      "recv",   "recv_into", "read",
      "run_backward",    "sleep",   "epoll_wait",  "futex",  "nanosleep", "usleep", "pause",     "sem_wait",
      "clock_nanosleep", "recvmsg", "pthread_join"};
  if (std::ranges::find(kWaiting, name) != std::end(kWaiting) || name.find(" time.sleep>") != name.npos) return true;
  for (const std::string_view part : {"pthread_cond_", "futex_wait", "sem_timedwait", "__poll", "pthread_mutex_lock",
                                      "__lll_lock_wait", "do_futex", "'acquire' of", "'poll' of"})
    if (name.find(part) != name.npos) return true;
  return false;
}

// Calls that wait until the GPU is done.
inline bool IsGpuWait(std::string_view function, std::string_view file) {
  if (function == "synchronize") return file.empty() || file.find("cuda") != file.npos;
  for (const std::string_view vendor : {"cuda", "cu", "hip"})
    if (function.starts_with(vendor) && function.find("Synchronize") != function.npos) return true;
  return function.find("torch._C._cuda_synchronize") != function.npos || function == "_local_scalar_dense";
}

// Functions that make batches: those of PyTorch's loader, and the user's own that it calls.
inline bool IsLoading(std::string_view function, std::string_view file) {
  if (file.find("torch/utils/data/") != file.npos || file.find("torch\\utils\\data\\") != file.npos) return true;
  const std::string_view name = function.substr(function.rfind('.') + 1);  // "Dataset.__getitem__"
  for (const std::string_view known : {"__getitem__", "__getitems__", "collate_fn", "collate"})
    if (name == known) return IsUsersFile(file);
  return name == "default_collate" || name == "_next_data" || name == "_MultiProcessingDataLoaderIter";
}

}  // namespace gapless::internal
