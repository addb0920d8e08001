// SPDX-License-Identifier: Apache-2.0
// Walks back from the last instant of a step along the edge that determined each instant's time. The cost is linear in
// the length of the path and in the slices around it, however deep these are nested.
#include "predict/critical_path.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "analyses/work_type.h"
#include "base/strings.h"
#include "trace/marks.h"

namespace gapless::internal {
namespace {

constexpr std::array<std::string_view, kBounds> kNames = {"host",          "data loading", "launch", "compute",
                                                          "communication", "copies",       "sync"};

constexpr std::array<std::string_view, kPathOwners> kOwnerNames = {"operator", "kernel", "module",
                                                                   "thread",   "stream", "collective"};

// The edge that an instant's time comes from; the first of several.
uint32_t DecidingEdge(const Graph& graph, std::span<const int64_t> edge_ns, std::span<const int64_t> times,
                      Instant instant) {
  uint32_t best = graph.first_edge[instant];
  int64_t latest = INT64_MIN;
  for (uint32_t edge = best; edge < graph.first_edge[instant + 1]; ++edge) {
    const int64_t from = graph.from[edge] == kNoInstant ? 0 : times[graph.from[edge]];
    if (from + edge_ns[edge] > latest) latest = from + edge_ns[edge], best = edge;
  }
  return best;
}

// Finds the nearest of a slice and those around it that has a property. Each slice is looked at once.
template <class Has>
class NearestSlice {
 public:
  NearestSlice(const Trace& trace, Has has) : trace_(trace), has_(has) {}

  // kNoRowValue: none has it.
  uint32_t Around(uint32_t slice) {
    passed_.clear();
    uint32_t row = slice;
    for (; row != kNoRowValue && !has_(row); row = trace_.slices.parent[row].value) {
      if (const auto known = found_.find(row); known != found_.end()) {
        row = known->second;
        break;
      }
      passed_.push_back(row);
    }
    for (const uint32_t one : passed_) found_[one] = row;
    return row;
  }

 private:
  const Trace& trace_;
  Has has_;
  std::unordered_map<uint32_t, uint32_t> found_{};  // by slice that lacks it
  std::vector<uint32_t> passed_{};
};

auto LoadingMarks(const Trace& trace) {
  return NearestSlice(trace, [&trace](uint32_t row) { return IsDataLoadingMark(trace.Text(trace.slices.name[row])); });
}

template <class Loading>
Bound BoundOfEdge(const Trace& trace, const Edge& edge, Loading& loading) {
  switch (edge.kind) {
    case EdgeKind::kGpu:
    case EdgeKind::kFeed:
    case EdgeKind::kOverlap: return BoundOf(trace.gpu_ops, edge.owner);
    case EdgeKind::kLaunch:
    case EdgeKind::kStream:
    case EdgeKind::kWait:
    case EdgeKind::kCall: return Bound::kLaunch;
    case EdgeKind::kSync:
    case EdgeKind::kQueue: return Bound::kSync;
    case EdgeKind::kRoot:
    case EdgeKind::kThread:
    case EdgeKind::kHost: break;
  }
  return loading.Around(edge.owner) != kNoRowValue ? Bound::kData : Bound::kHost;
}

// The operators and marks that edges belong to.
class Names {
 public:
  explicit Names(const Trace& trace)
      : trace_(trace),
        ops_(trace.gpu_ops),
        operators_(trace, [this](uint32_t row) { return IsOperator(row); }),
        modules_(trace, [this](uint32_t row) { return NameOf(row).starts_with(kModulePrefix); }) {}
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // Empty: to nothing of this kind.
  std::string Of(const Edge& edge, PathOwner owner) {
    const bool device = IsOfDevice(edge.kind);
    const uint32_t slice = device ? LaunchedBy(ops_, edge.owner).value : edge.owner;
    switch (owner) {
      case PathOwner::kOperator: return slice == kNoRowValue ? std::string() : Operator(slice);
      case PathOwner::kModule: return slice == kNoRowValue ? std::string() : Module(slice);
      case PathOwner::kThread: return device || slice == kNoRowValue ? std::string() : Thread(slice);
      case PathOwner::kKernel: return device ? std::string(trace_.Text(ops_.name[edge.owner])) : std::string();
      case PathOwner::kStream: return device ? StrCat("stream ", ops_.stream[edge.owner]) : std::string();
      case PathOwner::kCollective: break;
    }
    const bool communicates = device && ops_.op_class[edge.owner] == GpuOpClass::kCommunication;
    return communicates ? std::string(trace_.Text(ops_.name[edge.owner])) : std::string();
  }

 private:
  static bool IsOfDevice(EdgeKind kind) {
    return IsDeviceTime(kind) || kind == EdgeKind::kLaunch || kind == EdgeKind::kStream || kind == EdgeKind::kWait;
  }
  // Returns the nearest enclosing operator or mark, or the slice itself without such a parent.
  std::string Operator(uint32_t slice) {
    const uint32_t row = operators_.Around(slice);
    return std::string(trace_.Text(trace_.slices.name[row == kNoRowValue ? slice : row]));
  }
  std::string Module(uint32_t slice) {
    const uint32_t row = modules_.Around(slice);
    return row == kNoRowValue ? "" : std::string(NameOf(row).substr(kModulePrefix.size()));
  }
  std::string_view NameOf(uint32_t row) const { return trace_.Text(trace_.slices.name[row]); }
  bool IsOperator(uint32_t row) const {
    const SliceCategory category = trace_.slices.category[row];
    return category == SliceCategory::kOperator || category == SliceCategory::kAnnotation;
  }
  std::string Thread(uint32_t slice) const {
    const uint32_t thread = trace_.slices.thread[slice].value;
    const std::string_view name = trace_.Text(trace_.threads.name[thread]);
    return name.empty() ? StrCat("thread ", trace_.threads.tid[thread]) : std::string(name);
  }

  static constexpr std::string_view kModulePrefix = "nn.Module: ";
  const Trace& trace_;
  const GpuOpTable& ops_;
  NearestSlice<std::function<bool(uint32_t)>> operators_, modules_;
};

}  // namespace

Bound BoundOf(const GpuOpTable& ops, uint32_t op) {
  if (ops.op_class[op] == GpuOpClass::kCommunication) return Bound::kCommunication;
  return ops.kind[op] == GpuOpKind::kKernel ? Bound::kCompute : Bound::kCopy;
}

std::string_view NameOf(Bound bound) { return kNames[static_cast<size_t>(bound)]; }

std::string_view NameOf(PathOwner owner) { return kOwnerNames[static_cast<size_t>(owner)]; }

// If an instant waited for other ranks, the path goes on from the beginning of its own collective.
CriticalPath FindCriticalPath(const RankGraph& rank, std::span<const int64_t> edge_ns, std::span<const int64_t> times) {
  CriticalPath path;
  const Trace& trace = *rank.of->trace;
  auto loading = LoadingMarks(trace);
  const auto [begin_ns, last] = rank.span.Within(times);
  for (Instant at = last; at != kNoInstant && times[at] > begin_ns;) {
    const uint32_t edge = DecidingEdge(rank.graph, edge_ns, times, at);
    const Edge& edge_of_path = rank.graph.edges[edge];
    const Instant from = rank.graph.from[edge];
    const int64_t start_ns = std::max(begin_ns, from == kNoInstant ? begin_ns : times[from]);
    const Bound bound = BoundOfEdge(trace, edge_of_path, loading);
    path.parts.push_back({.edge = edge, .to = at, .start_ns = start_ns, .end_ns = times[at], .bound = bound});
    path.by_bound[static_cast<size_t>(bound)] += times[at] - start_ns;
    path.total_ns += times[at] - start_ns;
    at = from;
  }
  std::reverse(path.parts.begin(), path.parts.end());
  return path;
}

std::vector<PathShare> SharesBy(const RankGraph& rank, const CriticalPath& path, PathOwner owner) {
  std::unordered_map<std::string, PathShare> shares;
  Names names(*rank.of->trace);
  for (const PathPart& part : path.parts) {
    std::string name = names.Of(rank.graph.edges[part.edge], owner);
    if (name.empty() || part.end_ns == part.start_ns) continue;
    PathShare& share = shares[name];
    share.ns += part.end_ns - part.start_ns;
    ++share.parts;
    share.name = std::move(name);
  }
  std::vector<PathShare> sorted;
  for (auto& [name, share] : shares) sorted.push_back(std::move(share));
  std::sort(sorted.begin(), sorted.end(),
            [](const PathShare& a, const PathShare& b) { return a.ns != b.ns ? a.ns > b.ns : a.name < b.name; });
  return sorted;
}

DividedPath DivideRecordedPath(const RankGraph& rank) {
  DividedPath divided{.path = FindCriticalPath(rank, RecordedEdges(rank.graph), Replay(rank.graph))};
  for (size_t owner = 0; owner < kPathOwners; ++owner)
    divided.by_owner[owner] = SharesBy(rank, divided.path, static_cast<PathOwner>(owner));
  return divided;
}

}  // namespace gapless::internal
