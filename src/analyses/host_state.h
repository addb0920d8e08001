// SPDX-License-Identifier: Apache-2.0
// The state of the threads that feed the device at each instant, flattened once so that a walk can look it up.
//
// A thread's state is the highest-ranked one (data > sync > launch > host) of its open slices: a blocking call inside
// the data loader is data loading, an operator inside an annotation is launching. A track lists the stretches between
// changes; it holds the outermost slice that made the state what it is (of several that overlap, the first to end).
#pragma once

#include <vector>

#include "trace/trace.h"

namespace gapless::internal {

enum class HostState : uint8_t {
  kNone,    // nothing open
  kHost,    // Python frames or annotations only, or an operator that computes on the host for 1 ms or longer
  kLaunch,  // inside any other operator, or a runtime or driver call: busy issuing work
  kSync,    // inside a call that blocks: waits for the device, allocates or frees its memory
  kData,    // inside the data loader
};

struct HostStretch {
  int64_t start = 0;  // until the start of the next one; the first starts at the beginning of time
  SliceId slice;      // not valid: kNone
  HostState state = HostState::kNone;
};
using HostTrack = std::vector<HostStretch>;  // never empty

struct HostTracks {
  std::vector<HostTrack> tracks;
  std::vector<int32_t> track_of_thread;  // index into `tracks`; -1: the thread feeds no device
  HostTrack all;                         // the strongest state over all tracks
};

// Tracks of the threads that launched any GPU operation, or called the operator that another thread then launched.
HostTracks FlattenHostStates(const Trace& trace);

// Calls f(start, end, stretch) for the pieces of `track` within [start, end), walking on from `at`, an index that must
// not lie past `start` (0 always is good).
template <class F>
void WalkTrack(const HostTrack& track, size_t& at, int64_t start, int64_t end, F&& f) {
  while (at + 1 < track.size() && track[at + 1].start <= start) ++at;
  for (size_t i = at; start < end; ++i) {
    const int64_t until = i + 1 < track.size() && track[i + 1].start < end ? track[i + 1].start : end;
    f(start, until, track[i]);
    start = until;
    at = i;
  }
}

}  // namespace gapless::internal
