// SPDX-License-Identifier: Apache-2.0
// Sums up what the agent's records say of the recorder's own time, and compares recorded steps with the others.
//
// Records of a step's parts come before that of the step itself, so they are added up until then.
#include "collect/recording_account.h"

#include <algorithm>

namespace gapless::internal {
namespace {

constexpr int kHeldUp = 6;  // value of a record kRecorder: the program was held up, by the part in its flags
enum Part : uint16_t { kStart = 1, kStop, kExport, kEnd, kPython };
constexpr size_t kFewestOthers = 3;  // for a median

bool IsBesideTheStep(const wire::RingRecord& record) {
  using wire::RecordKind;
  const bool is_work = record.kind == RecordKind::kSave || record.kind == RecordKind::kBeside;
  return record.kind == RecordKind::kEvaluation || (is_work && (record.flags & wire::kInThread) == 0);
}

int64_t* FieldOf(uint16_t part, RecordingParts& parts) {
  switch (part) {
    case kStart: return &parts.start_ns;
    case kStop: return &parts.stop_ns;
    case kExport: return &parts.export_ns;
    case kEnd: return &parts.end_ns;
    case kPython: return &parts.python_ns;
    default: return nullptr;  // later agents may know more
  }
}

}  // namespace

int64_t RecordingParts::Total() const {
  int64_t total_ns = slow_steps_ns.value_or(0);
  for (const int64_t ns : {agent_ns, start_ns, stop_ns, export_ns, end_ns, python_ns})
    total_ns = wire::SumOf(total_ns, ns);
  return total_ns;
}

void RecordingAccount::Add(const wire::RingRecord& record) {
  if (record.kind == wire::RecordKind::kStep) return AddStep(record);
  if (IsBesideTheStep(record)) held_up_ns_ = wire::SumOf(held_up_ns_, record.dur_ns);
  if (record.kind != wire::RecordKind::kRecorder || record.value != kHeldUp) return;
  int64_t* const field = FieldOf(record.flags, parts_);
  if (field == nullptr) return;
  recorded_ = true;
  *field = wire::SumOf(*field, record.dur_ns);
  if (record.flags == kStart || record.flags == kStop || record.flags == kExport)
    held_up_ns_ = wire::SumOf(held_up_ns_, record.dur_ns);
}

// The first step warms up, and the one behind a recording is still slowed down by its file.
void RecordingAccount::AddStep(const wire::RingRecord& record) {
  const bool recorded = (record.flags & wire::kStepRecorded) != 0;
  const int64_t own_ns = std::max<int64_t>(0, record.dur_ns - held_up_ns_);
  held_up_ns_ = 0;
  if (recorded)
    recorded_ns_ = wire::SumOf(recorded_ns_, own_ns), ++recorded_steps_;
  else if (!was_recorded_ && (record.flags & wire::kStepFirst) == 0)
    others_.Add(own_ns);
  was_recorded_ = recorded;
}

RecordingParts RecordingAccount::Parts(int64_t agent_ns) const {
  RecordingParts parts = parts_;
  parts.agent_ns = agent_ns;
  if (recorded_steps_ == 0 || others_.size() < kFewestOthers) return parts;
  const double usual_ns = static_cast<double>(others_.Quantile(0.5)) * static_cast<double>(recorded_steps_);
  parts.slow_steps_ns = std::max<int64_t>(0, recorded_ns_ - static_cast<int64_t>(usual_ns));
  return parts;
}

}  // namespace gapless::internal
