// SPDX-License-Identifier: Apache-2.0
// Turns the events of an XSpace into those that the same profiler writes as JSON.
#pragma once

#include <string>

#include "ingest/reader.h"
#include "ingest/readers/kineto/event_rows.h"
#include "ingest/readers/kineto/lanes.h"
#include "ingest/readers/xplane/space.h"

namespace gapless::internal::xplane {

// An Events object reads one space into a builder, which both must outlive it.
class Events {
 public:
  Events(const Space& space, TraceBuilder& builder) : space_(space), builder_(builder) {}

  // Reads all planes; false: it was interrupted.
  bool Run(const ReadContext& context);
  int64_t events() const { return events_; }

 private:
  void NameLanes();
  void AddDevice(const Plane& plane);
  bool AddLine(const Plane& plane, const Line& line, int64_t pid, const ReadContext& context, kineto::EventRows& rows);
  void AddEvent(const Plane& plane, const Line& line, const Event& event, int64_t pid, kineto::EventRows& rows);
  void TakeStat(const Plane& plane, const Stat& stat, kineto::EventFields& fields);

  const Space& space_;
  TraceBuilder& builder_;
  kineto::Lanes lanes_{};
  int64_t events_ = 0, damaged_ = 0, sums_ = 0;
};

}  // namespace gapless::internal::xplane
