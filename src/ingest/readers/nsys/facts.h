// SPDX-License-Identifier: Apache-2.0
// The facts of a recording of Nsight Systems that its rows refer to: texts by number, processes, GPUs. They are
// gathered before the rows are read, and then read by several threads.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/ids.h"

namespace gapless::internal::nsys {

// The texts of a recording. Environments of processes are among them, so a text goes into the tables only when a row
// refers to it.
class Texts {
 public:
  void Copy(int64_t id, std::string_view text) { Refer(id, kept_.emplace_back(text)); }
  // The bytes must stay where they are: Hold() keeps them.
  void Refer(int64_t id, std::string_view text) { texts_.emplace(id, text); }
  std::string_view Hold(std::string bytes) { return kept_.emplace_back(std::move(bytes)); }
  // Null when there is none of this number.
  const std::string_view* Find(int64_t id) const {
    const auto known = texts_.find(id);
    return known == texts_.end() ? nullptr : &known->second;
  }
  std::string_view Of(int64_t id) const {
    const std::string_view* text = Find(id);
    return text == nullptr ? std::string_view() : *text;
  }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> kept_{};
  std::unordered_map<int64_t, std::string_view> texts_{};
};

// globalPid and globalTid hold the number of a process in their upper bits.
constexpr int64_t ProcessOf(int64_t global) { return global == kAbsent ? kAbsent : global >> 24; }
constexpr int64_t PidOf(int64_t global) { return (global >> 24) & 0xFFFFFF; }
constexpr int64_t TidOf(int64_t global) { return global & 0xFFFFFF; }
// The number of a process from its parts: pid, virtual machine, hardware. Absent parts are 0.
constexpr int64_t ProcessNumber(int64_t pid, int64_t vm, int64_t hardware) {
  const auto part = [](int64_t value, int64_t mask) { return value == kAbsent ? 0 : value & mask; };
  return part(pid, 0xFFFFFF) | part(vm, 0xFF) << 24 | part(hardware, 0xFF) << 32;
}

// A correlation id is unique within its process only; here it is made unique over the processes, with the place of
// the process in the bits above 40. A process that is known beforehand has its place by its number, so that the first
// one's ids stay as they are.
class Correlations {
 public:
  // A process that is not known beforehand gets the next place as it is met, which needs rows in one order, or, after
  // PlaceByPid(), a place by its pid.
  void Know(int64_t process);
  bool knows_any() const { return !places_.empty(); }
  void PlaceByPid() { unknown_ = Unknown::kByPid; }
  // Takes over the places that another thread gave to processes by their pids, and gives the next ones from now on.
  void Join(const Correlations& other);
  // kAbsent stays; so becomes what needs more than 40 bits.
  int64_t Unique(int64_t correlation, int64_t global);
  // Numbers of the processes that had correlations.
  const std::vector<int64_t>& met() const { return met_; }

 private:
  enum class Unknown : bool { kNextPlace, kByPid };
  struct Place {
    int64_t index = 0;
    bool met = false;
  };
  std::map<int64_t, Place> places_{};
  std::vector<int64_t> met_{};
  int64_t last_process_ = kAbsent, last_bits_ = 0;
  Unknown unknown_ = Unknown::kNextPlace;
};

struct Facts {
  std::string version{};  // of the nsys that wrote the recording: "2024.5.1.113-…"
  Texts texts{};
  std::map<std::pair<int64_t, int64_t>, int32_t> gpu_of{};  // key: (pid, CUDA's number); value: nsys' number of the GPU
  std::map<int64_t, int32_t> gpu_of_any{};                  // the same of processes that are not in gpu_of
  Correlations correlations{};

  // CUDA counts the GPUs that a process sees from 0; the recording may say which GPU of the host that is. -1 without a
  // device.
  int32_t DeviceOf(int32_t device, int64_t global) const;
};

}  // namespace gapless::internal::nsys
