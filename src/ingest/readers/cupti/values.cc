// SPDX-License-Identifier: Apache-2.0
// Maps CUPTI's enumerations of copies, overheads, calls and waits to the names of PyTorch's recorder. Numbers
// beyond the tables are "Unknown": newer CUPTI versions add values.
#include "ingest/readers/cupti/values.h"

#include <array>

#include "base/strings.h"

namespace gapless::internal::cupti {
namespace {

constexpr std::array<std::string_view, 11> kCopies = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                      "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemories = {"Unknown", "Pageable", "Pinned",        "Device",
                                                       "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::array<std::string_view, 9> kOverheads = {"Unknown",
                                                        "Buffer Flush",
                                                        "Instrumentation",
                                                        "Resource",
                                                        "Runtime Triggered Module Loading",
                                                        "Lazy Function Loading",
                                                        "Command Buffer Full",
                                                        "Activity Buffer Request",
                                                        "UVM Activity Init"};

std::string_view Of(const auto& names, uint64_t kind) { return kind < names.size() ? names[kind] : names[0]; }

}  // namespace

std::string CopyName(uint64_t copy_kind, uint64_t source_kind, uint64_t destination_kind) {
  return StrCat("Memcpy ", Of(kCopies, copy_kind), " (", Of(kMemories, source_kind), " -> ",
                Of(kMemories, destination_kind), ")");
}

std::string MemsetName(uint64_t memory_kind) { return StrCat("Memset (", Of(kMemories, memory_kind), ")"); }

std::string_view OverheadName(uint64_t kind) {
  if (kind == 1) return "Driver Compiler";
  return (kind & 0xFFFF) == 0 ? Of(kOverheads, kind >> 16) : kOverheads[0];
}

// Cuts off the version if it has four digits or more: "_v7000" is CUPTI's, while "_v2" is part of the driver's
// name. "_ptsz" and "_ptds" name the variants that use the default stream of each thread.
std::string_view CallName(std::string_view name) {
  const size_t mark = name.rfind("_v");
  if (mark != std::string_view::npos && name.size() - mark >= 6 &&
      name.find_first_not_of("0123456789", mark + 2) == std::string_view::npos)
    name = name.substr(0, mark);
  for (const std::string_view stream : {"_ptsz", "_ptds"})
    if (name.ends_with(stream)) name.remove_suffix(stream.size());
  return name;
}

SyncKind SyncKindOf(uint64_t type) {
  switch (type) {
    case 1: return SyncKind::kEvent;
    case 2: return SyncKind::kStreamWait;
    case 3: return SyncKind::kStream;
    default: return SyncKind::kDevice;
  }
}

std::string UuidText(uint64_t high, uint64_t low) {
  if (high == 0 && low == 0) return {};
  std::string text = "GPU-";
  for (int nibble = 0; nibble < 32; ++nibble) {
    if (nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20) text += '-';
    const uint64_t half = nibble < 16 ? high : low;
    text += "0123456789abcdef"[half >> (60 - 4 * (nibble % 16)) & 0xF];
  }
  return text;
}

MemoryPlace PlaceOf(uint64_t memory_kind) {
  if (memory_kind == 1 || memory_kind == 2) return MemoryPlace::kHost;
  return memory_kind >= 3 && memory_kind <= 7 ? MemoryPlace::kDevice : MemoryPlace::kOther;
}

}  // namespace gapless::internal::cupti
