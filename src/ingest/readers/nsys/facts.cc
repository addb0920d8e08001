// SPDX-License-Identifier: Apache-2.0
// Rows of one process come one after the other, so the place of the last one is remembered.
#include "ingest/readers/nsys/facts.h"

namespace gapless::internal::nsys {
namespace {

constexpr int kBits = 40;
// Places by pid lie above all others. Linux has pids of 22 bits at most.
constexpr int64_t kPlacesByPid = int64_t{1} << 22, kPidBits = kPlacesByPid - 1;

}  // namespace

void Correlations::Know(int64_t process) {
  if (!places_.try_emplace(process).second) return;
  int64_t index = 0;
  for (auto& [number, place] : places_) place.index = index++;
}

void Correlations::Join(const Correlations& other) {
  for (const int64_t process : other.met_)
    if (const auto known = other.places_.find(process); known != other.places_.end())
      places_.try_emplace(process, Place{known->second.index, false});
  unknown_ = Unknown::kNextPlace;
}

int64_t Correlations::Unique(int64_t correlation, int64_t global) {
  if (correlation < 0 || correlation >> kBits != 0) return kAbsent;  // also kAbsent itself
  const int64_t process = ProcessOf(global);
  if (process == kAbsent) return correlation;
  if (process != last_process_) {
    const auto [known, fresh] = places_.try_emplace(process);
    Place& place = known->second;
    if (fresh)  // places by pid are beyond all others, so those do not meet them
      place.index =
          unknown_ == Unknown::kByPid ? kPlacesByPid | (process & kPidBits) : static_cast<int64_t>(places_.size()) - 1;
    if (!place.met) met_.push_back(process);
    place.met = true;
    last_process_ = process, last_bits_ = place.index << kBits;
  }
  return correlation + last_bits_;
}

int32_t Facts::DeviceOf(int32_t device, int64_t global) const {
  if (device == kAbsent32) return -1;
  if (global == kAbsent) return device;
  const auto known = gpu_of.find({PidOf(global), device});
  if (known != gpu_of.end()) return known->second;
  const auto of_any = gpu_of_any.find(device);
  return of_any == gpu_of_any.end() ? device : of_any->second;
}

}  // namespace gapless::internal::nsys
