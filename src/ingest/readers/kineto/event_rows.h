// SPDX-License-Identifier: Apache-2.0
// From the fields of one event to rows of a shard. One EventRows per thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ingest/names.h"
#include "ingest/readers/kineto/fields.h"

namespace gapless::internal::kineto {

// A Note is something that reading reports besides rows, each with a count and the byte offset of the first. The order
// is that of kNoteTexts.
enum class Note : uint8_t {
  kBadEvent,
  kDeepEvent,
  kBadTime,
  kMissingDuration,
  kNegativeDuration,
  kControlCharacters,
  kInvalidUtf8,
  kStray,
  kRecorderSpan,
  kInstant,
  kBeginEnd,
  kOtherPhase,
  kOtherCategory,
  kOwnAnnotation,
  kCount
};
// A NoteText is how a note is reported: its kind, how serious it is, and the sentence for the user.
struct NoteText {
  std::string_view kind;
  Severity severity;
  std::string_view text;
};
const NoteText& TextOf(Note note);

// An EventRows turns the fields of events into rows of one thread's shard.
class EventRows {
 public:
  explicit EventRows(TraceBuilder::Shard& shard) : shard_(shard) {}

  // Adds the event's rows. `offset`: where it stands in the input.
  void Add(const EventFields& event, uint64_t offset);
  void Tell(Note note, uint64_t offset, int64_t count = 1);

  // A chunk can be taken back: its notes and names go with its rows.
  void BeginChunk(uint64_t order);
  void DropChunk();

  int64_t events() const { return events_; }
  // Adds what this thread gathered besides rows, to be called once all threads are done.
  void Finish(TraceBuilder& builder) const;
  bool saw_framework() const { return saw_framework_; }
  bool saw_python() const { return saw_python_; }
  // Takes the lines of recorded call stacks back, in a recording with Python functions: there the recorder makes the
  // stacks from the functions' names, whose lines are no places of calls.
  void ForgetStackLines();

 private:
  // The meaning of a name, looked up once per distinct name and category: a Triton operator and its kernel share their
  // name.
  struct NameTraits {
    uint16_t known = 0;       // bit per Category
    bool annotation = false;  // an annotation although an old recorder filed it under operators
    ApiKind api = ApiKind::kNone;
    KernelTraits kernel{};
    CopyKind copy = CopyKind::kNone;
    StringId source_line = StringId::kNone;      // source line of a Python frame
    StringId collective = StringId::kNone;       // collective of a kernel
    StringId host_collective = StringId::kNone;  // host collective of an operator or annotation of the same name
  };
  enum class Category : uint8_t {
    kNone,
    kOperator,
    kAnnotation,
    kPython,
    kRuntime,
    kDriver,
    kOverhead,
    kKernel,
    kMemcpy,
    kMemset,
    kGpuAnnotation,
    kSync,
    kTrace,
    kOther
  };
  struct Tally {
    int64_t count = 0;
    int64_t first_offset = kAbsent;
  };

  static Category CategoryOf(std::string_view token);
  static Category LegacyCategoryOf(const EventFields& event);
  static int32_t DeviceOf(const EventFields& event);
  void AddComplete(const EventFields& event, uint64_t offset);
  void AddSlice(const EventFields& event, Category category, int64_t ts, int64_t dur);
  void AddGpuOp(const EventFields& event, Category category, int64_t ts, int64_t dur);
  void AddGpuAnnotation(const EventFields& event, int64_t ts, int64_t dur);
  void AddSync(const EventFields& event, int64_t ts, int64_t dur);
  void AddCollective(const EventFields& event, const NameTraits& traits, const GpuOpRow& op);
  void AddHostCollective(const EventFields& event, const SliceRow& slice);
  void AddFlow(const EventFields& event, bool start);
  void AddInstant(const EventFields& event, uint64_t offset);
  void AddCounter(const EventFields& event, uint64_t offset);
  static int32_t CounterDevice(const EventFields& event);
  void TakeGroup(const EventFields& event, CollectiveRow& row);
  void AddMetadata(const EventFields& event);

  StringId Text(std::string_view token);   // interned, escapes resolved
  StringId Shapes(std::string_view json);  // interned, white space taken out
  const NameTraits& TraitsOf(StringId name, Category category);
  StringId StackLine(std::string_view token);  // "file:line" of the user's frame in a recorded stack or call
  int64_t ProcessOf(std::string_view token);   // numbers as they are, texts get stand-ins
  int64_t ThreadOf(std::string_view token);

  TraceBuilder::Shard& shard_;
  std::vector<NameTraits> traits_;     // by StringId
  StringPool stacks_;                  // recorded stacks, and places of calls
  std::vector<StringId> stack_lines_;  // by id in stacks_
  std::array<Tally, static_cast<size_t>(Note::kCount)> tallies_{}, tallies_before_{};
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names_;
  std::map<int64_t, std::string> process_names_;
  int64_t events_ = 0, events_before_ = 0;
  bool saw_framework_ = false, saw_python_ = false;
};

}  // namespace gapless::internal::kineto
