// SPDX-License-Identifier: Apache-2.0
// From the fields of one event to rows of a shard. One EventRows per thread.
#pragma once

#include "ingest/readers/kineto/event_category.h"
#include "ingest/readers/kineto/event_texts.h"
#include "ingest/readers/kineto/execution_trace.h"
#include "ingest/readers/kineto/foreign.h"
#include "ingest/readers/kineto/lanes.h"
#include "ingest/readers/kineto/name_traits.h"
#include "ingest/readers/kineto/notes.h"

namespace gapless::internal::kineto {

// Returns true if the name is that of a step and its number: "train_step", "step 12".
bool IsStepName(std::string_view name);

// An EventRows turns the fields of events into rows of one thread's shard.
class EventRows {
 public:
  // `lanes`: what each lane of the file shows, if that decides and not the category; null otherwise.
  // `known`: the execution trace of the same run; null: there is none.
  EventRows(TraceBuilder::Shard& shard, const Lanes* lanes, const ExecutionTrace* known = nullptr)
      : shard_(shard), lanes_(lanes), known_(known), texts_(shard), names_(shard) {}

  // Adds the event's rows. `offset`: where it stands in the input.
  void Add(const EventFields& event, uint64_t offset);
  void Tell(Note note, uint64_t offset) { notes_.Add(note, offset); }

  // A chunk can be taken back: its notes and names go with its rows.
  void BeginChunk(uint64_t order);
  void DropChunk();

  int64_t events() const { return events_; }
  // Adds what this thread gathered besides rows, to be called once all threads are done.
  void Finish(TraceBuilder& builder) const;
  const Meeting& meeting() const { return meeting_; }
  bool saw_framework() const { return saw_framework_; }
  // "xpu" or "hpu" if categories of their recorders were seen; empty otherwise.
  std::string_view accelerator() const { return accelerator_; }
  bool saw_python() const { return saw_python_; }
  // Returns true if any event is one that a profiler of training writes.
  bool saw_known() const { return saw_known_; }
  // Returns true if any event has a phase, as all events of this form of JSON have.
  bool saw_phase() const { return saw_phase_; }
  const ForeignSigns& signs() const { return signs_; }
  // Adds the names of processes and threads that this thread saw.
  void NameLanes(Lanes& lanes) const { texts_.NameLanes(lanes); }
  // Takes the lines of recorded call stacks back, in a recording with Python functions: there the recorder makes the
  // stacks from the functions' names, whose lines are no places of calls.
  void ForgetStackLines() { texts_.ForgetStackLines(); }

 private:
  static int32_t DeviceOf(const EventFields& event);
  void AddBeginEnd(const EventFields& event, uint64_t offset);
  void AddComplete(const EventFields& event, uint64_t offset);
  void AddOfLane(const EventFields& event, int64_t ts, int64_t dur);
  KnownInputs InputsOf(const EventFields& event, int64_t pid);
  void AddStep(const EventFields& event, std::string_view number, int64_t ts, int64_t dur);
  void AddSlice(const EventFields& event, Category category, int64_t ts, int64_t dur);
  void AddGpuOp(const EventFields& event, Category category, int64_t ts, int64_t dur);
  void AddGpuAnnotation(const EventFields& event, int64_t ts, int64_t dur);
  void AddSync(const EventFields& event, int64_t ts, int64_t dur);
  void AddCollective(const EventFields& event, const NameTraits& traits, const GpuOpRow& op);
  void AddHostCollective(const EventFields& event, const SliceRow& slice);
  void AddMessageCall(const EventFields& event, const SliceRow& slice);
  CollectiveRow CollectiveOf(const EventFields& event, StringId name, StringId kind, int64_t ts_ns, int64_t dur_ns);
  void AddFlow(const EventFields& event, bool start);
  void AddInstant(const EventFields& event, uint64_t offset);
  void AddCounter(const EventFields& event, uint64_t offset);
  static int32_t CounterDevice(const EventFields& event);
  void AddMetadata(const EventFields& event);

  TraceBuilder::Shard& shard_;
  const Lanes* lanes_;
  const ExecutionTrace* known_;
  EventTexts texts_;
  NameJudge names_;
  Notes notes_;
  int64_t events_ = 0, events_before_ = 0;
  Meeting meeting_{}, meeting_before_{};
  ForeignSigns signs_;
  std::string_view accelerator_{};
  bool saw_framework_ = false, saw_python_ = false, saw_known_ = false, saw_phase_ = false;
};

}  // namespace gapless::internal::kineto
