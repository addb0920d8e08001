// SPDX-License-Identifier: Apache-2.0
// The model of a fix says what a step would take with it: it changes how long the edges of a graph take. An item of
// `gapless predict --what` is a what-if: the name of a fix that has a model, and a value.
//
// Several are applied one after the other to the same times, so that each sees what those before it left; then the
// whole is replayed once. Gains are never added or multiplied.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"
#include "predict/graph.h"

namespace gapless::internal {

// The times of a graph that a model of a fix may change. They are copied when the first edge changes: until then, and
// after Share(), copies have the same ones.
class EdgeTimes {
 public:
  EdgeTimes() = default;
  explicit EdgeTimes(const Graph& graph) : EdgeTimes(graph, RecordedEdges(graph)) {}
  EdgeTimes(const Graph& graph, std::vector<int64_t> edge_ns)
      : graph_(&graph), before_(std::make_shared<const std::vector<int64_t>>(std::move(edge_ns))), shared_(before_) {}
  const std::vector<int64_t>& ns() const { return is_changed_ ? changed_ : *shared_; }
  // Before any fix: of collectives that other ranks take part in their transfer alone.
  const std::vector<int64_t>& before() const { return *before_; }
  const Graph& graph() const { return *graph_; }

  // Returns true if the host works for as long as the edge takes.
  static bool IsHostTime(EdgeKind kind) { return kind == EdgeKind::kHost || kind == EdgeKind::kCall; }

  // Takes the times of `other`, and keeps its own memory for the next change.
  void StartFrom(const EdgeTimes& other);
  // Makes the changes part of what copies share.
  void Share();
  // Sets edges that take less than in `before`, of the same graph, to nothing at all.
  void RemoveWhatShrank(const EdgeTimes& before);

  // Multiplies what device operations (their time on the device) or host work take, where `factor` says so of the row
  // of gpu_op or slice that owns the edge; kNoRowValue: host work outside every slice.
  template <class Factor>  // double(uint32_t op)
  void ScaleOps(const Factor& factor) {
    Scale(IsDeviceTime, factor);
  }
  template <class Factor>  // double(uint32_t slice)
  void ScaleHost(const Factor& factor) {
    Scale(IsHostTime, factor);
  }
  // Host work takes at most this share of what it took before any fix; asked for each of its edges, with what the
  // edge took. Two fixes that take away the same work do not multiply.
  template <class Share>  // double(const Edge& edge, int64_t before_ns)
  void LimitHost(const Share& share) {
    for (size_t i = 0; i < graph_->edges.size(); ++i) {
      const Edge& edge = graph_->edges[i];
      if (!IsHostTime(edge.kind)) continue;
      const int64_t before_ns = (*before_)[i];
      const int64_t most_ns = Scaled(before_ns, share(edge, before_ns));
      if (most_ns < ns()[i]) Set(i, most_ns);
    }
  }
  // Operations that follow each other on a stream have at most `most_ns` between them.
  void LimitGaps(int64_t most_ns);
  // Blocking calls, full queues: the call no longer waits. `chosen` is asked for the owner of the edge: the row of the
  // call, of kFeed the row of the copy.
  void DropWaits(EdgeKind kind, const std::function<bool(uint32_t owner)>& chosen);
  // The same, where a call that no longer waits takes `call_ns` itself, if it took less before.
  void DropWaits(EdgeKind kind, const std::function<bool(uint32_t owner)>& chosen,
                 const std::function<int64_t(uint32_t owner)>& call_ns);
  // Other streams no longer wait for the ends of these operations, by row: 1 for each.
  void DropStreamWaits(const std::vector<uint8_t>& ops);

 private:
  static int64_t Scaled(int64_t ns, double factor) {
    return factor == 1 ? ns : std::llround(static_cast<double>(ns) * factor);
  }
  template <class IsChosen, class Factor>
  void Scale(const IsChosen& is_chosen, const Factor& factor) {
    for (size_t i = 0; i < graph_->edges.size(); ++i) {
      if (!is_chosen(graph_->edges[i].kind)) continue;
      const int64_t now_ns = ns()[i];
      if (now_ns == kNever) continue;
      const int64_t scaled_ns = Scaled(now_ns, factor(graph_->edges[i].owner));
      if (scaled_ns != now_ns) Set(i, scaled_ns);
    }
  }
  void Set(size_t edge, int64_t ns) {
    if (!is_changed_) Change();
    changed_[edge] = ns;
  }
  void Change();

  const Graph* graph_ = nullptr;
  std::shared_ptr<const std::vector<int64_t>> before_{}, shared_{};
  std::vector<int64_t> changed_{};  // in place of `shared_` once something changed
  bool is_changed_ = false;
};

// The saving of a fix is not known exactly: each model gives a low, an expected and a high value.
enum class Estimate : uint8_t { kPessimistic, kExpected, kOptimistic };
inline double ValueFor(Estimate estimate, double pessimistic, double expected, double optimistic) {
  return estimate == Estimate::kPessimistic ? pessimistic : estimate == Estimate::kExpected ? expected : optimistic;
}

struct WhatIfInput {
  const RunTrace& of;
  Tables& tables;
  const Trace& trace() const { return *of.trace; }
  // Values that follow from the trace alone, computed once for all models.
  template <class T>
  const T& Once(T (*make)(const Trace&)) const {
    return tables.Once(trace(), make);
  }
};

// `name`, `name=value`, `name:selector=value`.
struct WhatIfItem {
  std::string name{}, selector{}, value{};
  std::string ToString() const;
  // The value as a factor above zero.
  Result<double> Factor() const;
  // As a whole number from 1 on; absent: none was given.
  Result<std::optional<int64_t>> Count() const;
};
// Items separated by commas, a comma of an item as "\\,"; a selector ends at the last "=".
Result<std::vector<WhatIfItem>> ParseItems(std::string_view text);

struct WhatIfEffect {
  std::vector<std::string> assumptions{};  // sentences; the same for every case
  std::string refusal{};                   // why nothing can be said of it in this recording
  std::string no_effect{};                 // why it has no effect here: the step stays as it is
  double samples_factor = 1;  // work of a step as a multiple of the recorded step's; its time counts per work
};

// Says how much faster a step gets. A fix without one can only be tried.
struct FixModel {
  std::string_view value{};  // value in `--what name=VALUE`; "": takes none; "[N]": may be left out
  std::string_view why{};    // one paragraph: what the model changes, how much, and the source of that
  // An error: the value cannot be read. Null: there is no model.
  Result<WhatIfEffect> (*apply)(const WhatIfInput& input, const WhatIfItem& item, Estimate estimate,
                                EdgeTimes& times) = nullptr;

  bool needs_value() const { return !value.empty() && !value.starts_with('['); }
};

}  // namespace gapless::internal
