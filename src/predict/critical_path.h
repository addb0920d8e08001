// SPDX-License-Identifier: Apache-2.0
// The chain of edges that a step's time is made of: each leads to the instant from which the next one begins, and
// without any of them the step would be shorter.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/job.h"

namespace gapless::internal {

// The resource that a stretch of the path is spent on. The report prints these names.
enum class Bound : uint8_t { kHost, kData, kLaunch, kCompute, kCommunication, kCopy, kSync };
inline constexpr size_t kBounds = 7;
std::string_view NameOf(Bound bound);  // "host" …
Bound BoundOf(const GpuOpTable& ops, uint32_t op);

struct PathPart {
  uint32_t edge = 0;                 // edge of the graph
  Instant to = 0;                    // where it leads
  int64_t start_ns = 0, end_ns = 0;  // in the replay
  Bound bound = Bound::kHost;
};

struct CriticalPath {
  std::vector<PathPart> parts{};            // in order, without gaps: each begins where the one before ends
  std::array<int64_t, kBounds> by_bound{};  // ns, of the whole span of steps
  int64_t total_ns = 0;                     // total length of that span
};

// Through the span of steps of one rank, in a replay with these times.
CriticalPath FindCriticalPath(const RankGraph& rank, std::span<const int64_t> edge_ns, std::span<const int64_t> times);

// To whom the path's time belongs.
enum class PathOwner : uint8_t { kOperator, kKernel, kModule, kThread, kStream, kCollective };
inline constexpr size_t kPathOwners = 6;
std::string_view NameOf(PathOwner owner);  // "operator" …

struct PathShare {
  std::string name{};
  int64_t ns = 0;     // length of the path
  int64_t parts = 0;  // stretches of it
};
// Sorted by time, the most first; parts without such an owner (the host's time has no kernel) are left out.
std::vector<PathShare> SharesBy(const RankGraph& rank, const CriticalPath& path, PathOwner owner);

// The path of one rank as recorded, divided: by what it is spent on, and by each kind of owner.
struct DividedPath {
  CriticalPath path{};
  std::array<std::vector<PathShare>, kPathOwners> by_owner{};
};
DividedPath DivideRecordedPath(const RankGraph& rank);

}  // namespace gapless::internal
