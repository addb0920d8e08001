// SPDX-License-Identifier: Apache-2.0
// An event is a kind and one body, whose field number says what it is about; the bodies have numbers for fields, which
// docs/formats/nsys_rep.md lists. What is not known is counted by its number.
#include "ingest/readers/nsys_rep/events.h"

#include "base/strings.h"

namespace gapless::internal::nsys_rep {
namespace {

enum Family : uint32_t {
  kNvtx = 102,
  kSample = 104,
  kScheduling = 106,
  kDevice = 107,
  kCall = 108,
  kDiagnostic = 110,
  kProcess = 113,
};

}  // namespace

bool Events::Take(uint64_t order, std::string_view block) {
  order_ = order;
  meaning_.shard().BeginChunk(order);
  WireReader fields(block);
  while (fields.Next()) {
    const bool is_event = fields.number() == 1 && fields.is_bytes();
    const bool is_generic = fields.number() == 2 && fields.is_bytes();
    events_ += is_event ? 1 : 0, generic_ += is_generic ? 1 : 0;
    if ((is_event && !TakeEvent(fields.bytes())) || (is_generic && !TakeGeneric(fields.bytes()))) ++damaged_;
  }
  return !fields.damaged();
}

bool Events::TakeEvent(std::string_view event) {
  uint32_t family = 0;
  int64_t kind = kAbsent;
  std::string_view body;
  WireReader fields(event);
  while (fields.Next()) {
    if (fields.number() == 1)
      kind = fields.Int();
    else if (family == 0 && fields.is_bytes())
      family = fields.number(), body = fields.bytes();
  }
  if (fields.damaged()) return false;
  switch (family) {
    case kDevice: return TakeWork(body);
    case kCall: return TakeCall(body);
    case kNvtx: return TakeRange(body);
    case kDiagnostic: return TakeDiagnostic(body);
    case kProcess: return TakeProcess(body);
    case kSample: return TakeSample(body);
    case kScheduling: return TakeSwitch(body);
    default: meaning_.LeaveOut(StrCat("events of kind ", kind, " in field ", family)); return true;
  }
}

// A record of a type that the index describes: unsigned numbers of one to eight bytes. The lowest byte of the type is
// the number of the GPU, as in the table GPU_METRICS.
bool Events::TakeGeneric(std::string_view event) {
  int64_t type = kAbsent, time = kAbsent;
  std::string_view record;
  WireReader fields(event);
  while (fields.Next()) {
    if (fields.number() == 1) type = fields.Int();
    if (fields.number() == 2) time = fields.Int();
    if (fields.number() == 3) record = fields.bytes();
  }
  if (fields.damaged()) return false;
  const auto layout = layouts_.find(type);
  if (layout == layouts_.end()) {
    meaning_.LeaveOut("GENERIC_EVENTS");
    return true;
  }
  for (const MetricField& field : layout->second) {
    if (field.offset > record.size() || field.bytes > record.size() - field.offset) return false;
    uint64_t value = 0;
    for (uint64_t at = 0; at < field.bytes; ++at)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(record[field.offset + at])) << (8 * at);
    meaning_.Add(nsys::Metric{.time = time,
                              .name = field.name,
                              .device = static_cast<int32_t>(type & 0xFF),
                              .value = static_cast<double>(value)});
  }
  return true;
}

bool Events::TakeWork(std::string_view body) {
  nsys::Work work;
  uint32_t what = 0;
  std::string_view own;
  WireReader fields(body);
  while (fields.Next()) switch (fields.number()) {
      case 1: work.start = fields.Int(); break;
      case 2: work.end = fields.Int(); break;
      case 3: work.correlation = fields.Int(); break;
      case 4: work.device = Narrow(fields); break;
      case 5: work.context = Narrow(fields); break;
      case 6: work.stream = fields.Int(); break;
      case 8: work.global_pid = fields.Int(); break;
      default:
        if (fields.number() > 100 && fields.is_bytes()) what = fields.number(), own = fields.bytes();
    }
  if (fields.damaged()) return false;
  switch (what) {
    case 101: return TakeKernel(work, own);
    case 102: return TakeCopy(work, own);
    case 103: return TakeMemset(work, own);
    case 105: return TakeSync(work, own);
    case 106: return true;  // the recording of an event, which has no time
    case 107: return TakeGraph(work, own);
    default: meaning_.LeaveOut(StrCat("device work in field ", what)); return true;
  }
}

bool Events::TakeKernel(const nsys::Work& work, std::string_view own) {
  nsys::Kernel kernel{.work = work};
  WireReader fields(own);
  while (fields.Next()) switch (fields.number()) {
      case 1: kernel.name = fields.Int(); break;
      case 2: kernel.short_name = fields.Int(); break;
      case 10:
      case 11:
      case 12: kernel.grid[fields.number() - 10] = Narrow(fields); break;
      case 13:
      case 14:
      case 15: kernel.block[fields.number() - 13] = Narrow(fields); break;
      case 16: kernel.static_shared = Narrow(fields); break;
      case 17: kernel.dynamic_shared = Narrow(fields); break;
      case 21: kernel.registers = Narrow(fields); break;
      default: break;
    }
  if (!fields.damaged()) meaning_.Add(kernel);
  return !fields.damaged();
}

bool Events::TakeCopy(const nsys::Work& work, std::string_view own) {
  nsys::Copy copy{.work = work};
  WireReader fields(own);
  while (fields.Next()) switch (fields.number()) {
      case 1: copy.bytes = fields.Int(); break;
      case 2: copy.operation = fields.Int(); break;
      case 4: copy.from = fields.Int(); break;
      case 5: copy.to = fields.Int(); break;
      case 10: copy.cause = fields.Int(); break;
      default: break;
    }
  if (!fields.damaged()) meaning_.Add(copy);
  return !fields.damaged();
}

bool Events::TakeMemset(const nsys::Work& work, std::string_view own) {
  nsys::Memset memset{.work = work};
  WireReader fields(own);
  while (fields.Next()) {
    if (fields.number() == 1) memset.bytes = fields.Int();
    if (fields.number() == 4) memset.memory = fields.Int();
  }
  if (!fields.damaged()) meaning_.Add(memset);
  return !fields.damaged();
}

// The kind stands in field 2 up to 2024, in field 4 from 2025 on; which numbering it has depends on the version, too.
bool Events::TakeSync(const nsys::Work& work, std::string_view own) {
  nsys::Sync sync{.work = work};
  int64_t newer = kAbsent;
  WireReader fields(own);
  while (fields.Next()) {
    if (fields.number() == 1) sync.event = fields.Int();
    if (fields.number() == 2) sync.type = fields.Int();
    if (fields.number() == 4) newer = fields.Int();
  }
  if (newer != kAbsent) sync.type = newer;
  if (!fields.damaged()) meaning_.Add(sync);
  return !fields.damaged();
}

bool Events::TakeGraph(const nsys::Work& work, std::string_view own) {
  nsys::Graph graph{.work = work};
  WireReader fields(own);
  while (fields.Next())
    if (fields.number() == 1) graph.graph = fields.Int();
  if (!fields.damaged()) meaning_.Add(graph);
  return !fields.damaged();
}

bool Events::TakeCall(std::string_view body) {
  nsys::Call call;
  WireReader fields(body);
  while (fields.Next()) switch (fields.number()) {
      case 1: call.start = fields.Int(); break;
      case 2: call.end = fields.Int(); break;
      case 3: call.correlation = fields.Int(); break;
      case 6: call.event_class = fields.Int(); break;
      case 7: call.name = fields.Int(); break;
      case 13: call.global_tid = fields.Int(); break;
      default: break;
    }
  if (fields.damaged()) return false;
  switch (call.event_class) {
    case kAbsent:
    case 0:
    case 1: meaning_.Add(call); break;
    case 3:
      meaning_.Add(
          nsys::Overhead{.start = call.start, .end = call.end, .global_tid = call.global_tid, .name = call.name});
      break;
    case 27:
    case 31:
    case 32:
      meaning_.Add(
          nsys::OsCall{.start = call.start, .end = call.end, .global_tid = call.global_tid, .name = call.name});
      break;
    case 94:
    case 95: meaning_.LeaveOut("CUDA_GRAPH_EVENTS"); break;
    case 102:
    case 103:
    case 104: meaning_.LeaveOut("CUPTI_ACTIVITY_KIND_OVERHEAD"); break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
    case 11: break;  // marks of the profiler
    default: meaning_.LeaveOut(StrCat("calls of class ", call.event_class));
  }
  return true;
}

bool Events::TakeRange(std::string_view body) {
  nsys::Range range;
  WireReader fields(body);
  while (fields.Next()) switch (fields.number()) {
      case 1: range.type = fields.Int(); break;
      case 2: range.start = fields.Int(); break;
      case 7: range.text = fields.bytes(); break;
      case 9: range.global_tid = fields.Int(); break;
      case 10: range.end = fields.Int(); break;
      case 12: range.text_id = fields.Int(); break;
      default: break;
    }
  if (!fields.damaged()) meaning_.Add(range);
  return !fields.damaged();
}

// A frame has the number of its symbol and of its module.
bool Events::TakeSample(std::string_view body) {
  nsys::CpuSample sample;
  WireReader fields(body);
  while (fields.Next()) {
    if (fields.number() == 1) sample.time = fields.Int();
    if (fields.number() == 11) sample.global_tid = fields.Int();
    if (fields.number() != 4 || !fields.is_bytes()) continue;
    nsys::CpuFrame& frame = sample.stack.emplace_back();
    WireReader of_frame(fields.bytes());
    while (of_frame.Next()) {
      if (of_frame.number() == 1) frame.symbol = of_frame.Int();
      if (of_frame.number() == 2) frame.module = of_frame.Int();
    }
    if (of_frame.damaged()) return false;
  }
  if (fields.damaged()) return false;
  meaning_.Add(std::move(sample));
  return true;
}

// A switch without field 4 takes the thread off its processor.
bool Events::TakeSwitch(std::string_view body) {
  nsys::Switch change;
  change.cpu = 0;
  WireReader fields(body);
  while (fields.Next()) switch (fields.number()) {
      case 1: change.time = fields.Int(); break;
      case 3: change.cpu = Narrow(fields); break;
      case 4: change.in = fields.Int() != 0; break;
      case 6: change.global_tid = fields.Int(); break;
      default: break;
    }
  if (!fields.damaged()) meaning_.Add(change);
  return !fields.damaged();
}

bool Events::TakeDiagnostic(std::string_view body) {
  nsys::Diagnostic diagnostic;
  WireReader fields(body);
  while (fields.Next()) {
    if (fields.number() == 3) diagnostic.severity = fields.Int();
    if (fields.number() == 4) diagnostic.text = fields.bytes();
  }
  if (!fields.damaged()) meaning_.Add(diagnostic);
  return !fields.damaged();
}

// The name is in field 6, or, before the process gave itself one, in field 5. Its arguments are not looked at.
bool Events::TakeProcess(std::string_view body) {
  int64_t global = kAbsent;
  std::string_view launched, own;
  WireReader fields(body);
  while (fields.Next()) {
    if (fields.number() == 2) global = fields.Int();
    if (fields.number() == 5) launched = fields.bytes();
    if (fields.number() == 6) own = fields.bytes();
  }
  if (fields.damaged()) return false;
  const std::string_view name = own.empty() ? launched : own;
  if (global != kAbsent && !name.empty()) processes_.push_back({order_, nsys::PidOf(global), std::string(name)});
  return true;
}

}  // namespace gapless::internal::nsys_rep
