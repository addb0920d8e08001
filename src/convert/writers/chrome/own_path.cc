// SPDX-License-Identifier: Apache-2.0
// The critical path as a track: what the step's time is made of, one stretch after the other, where it was recorded.
#include "base/strings.h"
#include "convert/writers/chrome/own.h"
#include "convert/writers/chrome/surroundings.h"
#include "predict/critical_path.h"

namespace gapless::internal::chrome {
namespace {

std::string_view ColourOf(Bound bound) {
  switch (bound) {
    case Bound::kCompute: return "good";
    case Bound::kCommunication: return "thread_state_runnable";
    case Bound::kCopy:
    case Bound::kData: return "thread_state_iowait";
    case Bound::kSync: return "thread_state_uninterruptible";
    case Bound::kHost:
    case Bound::kLaunch: break;
  }
  return "thread_state_running";
}

// Returns the graph of this rank; null if the recording was not accepted for predictions, as then its path is not
// trusted.
const RankGraph* RankOf(const Job& job) {
  const auto& predictor = job.input.advice->predictor();
  if (!predictor || !predictor->check().accepted()) return nullptr;
  for (const RankGraph& rank : predictor->job().ranks)
    if (rank.of->index == job.of.index) return &rank;
  return nullptr;
}

// Returns the name of the edge's owner: the operation on the device, otherwise the slice that was open.
std::string_view NameOfOwner(const Trace& trace, const Edge& edge) {
  if (edge.owner == kNoRowValue) return "host";
  const bool device = IsDeviceTime(edge.kind) || edge.kind == EdgeKind::kLaunch || edge.kind == EdgeKind::kStream ||
                      edge.kind == EdgeKind::kWait;
  return trace.Text(device ? trace.gpu_ops.name[edge.owner] : trace.slices.name[edge.owner]);
}

}  // namespace

// Stretches without duration, such as an operation that follows at once, are left out. Where some steps stand for all,
// the path is theirs.
bool WriteCriticalPath(const Job& job) {
  const RankGraph* rank = RankOf(job);
  if (rank == nullptr) return true;
  const std::vector<int64_t> times = Replay(rank->graph);
  const CriticalPath path = FindCriticalPath(*rank, RecordedEdges(rank->graph), times);
  const Place place{job.places.own_pid, kPathTid};
  WriteName(job.out, "thread_name", place, "critical path");
  WriteOrder(job.out, "thread_sort_index", place, place.tid);
  int64_t until = INT64_MIN;
  for (const PathPart& part : path.parts) {
    const Edge& edge = rank->graph.edges[part.edge];
    const int64_t end = rank->graph.recorded_ns[part.to];
    const int64_t begin = std::max(until, end - (part.end_ns - part.start_ns));
    if (begin >= end || !job.Within(begin)) continue;
    until = end;
    Events& out = job.out.Begin(Kind::kAnnotation, 'X', kOwnCategory).Name(NameOfOwner(*rank->of->trace, edge));
    out.At(place, begin).Dur(end - begin).Field("cname", ColourOf(part.bound)).Arg("bound", NameOf(part.bound)).End();
  }
  return job.GoOn(0);
}

}  // namespace gapless::internal::chrome
