// SPDX-License-Identifier: Apache-2.0
// The numbers of a CUPTI stream as values of columns: in the words that PyTorch's recorder uses for them, so that the
// same thing has the same name whoever recorded it. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/enums.h"
#include "trace/ids.h"

namespace gapless::internal::cupti {

// "Memcpy HtoD (Pageable -> Device)", "Memcpy PtoP (Device -> Device)".
std::string CopyName(uint64_t copy_kind, uint64_t source_kind, uint64_t destination_kind);
// "Memset (Device)".
std::string MemsetName(uint64_t memory_kind);
// "Lazy Function Loading", "Buffer Flush" …
std::string_view OverheadName(uint64_t kind);
// CUPTI names calls with their version: "cudaLaunchKernel_v7000" and "cuMemcpyHtoD_v2_ptds" are cudaLaunchKernel and
// cuMemcpyHtoD_v2.
std::string_view CallName(std::string_view name);
// Returns the kind of synchronisation of a type.
SyncKind SyncKindOf(uint64_t type);
// "GPU-1b2c…", as nvidia-smi prints it; empty for zeros.
std::string UuidText(uint64_t high, uint64_t low);

enum class MemoryPlace : uint8_t { kHost, kDevice, kOther };
// Returns where memory of CUPTI's kind lies: pageable and pinned memory on the host, device, array, managed and
// static memory on the device.
MemoryPlace PlaceOf(uint64_t memory_kind);

// Returns the value, or absent if it does not fit: a value that large comes from damage.
inline int32_t Narrow(uint64_t value) { return value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value); }
inline int64_t Wide(uint64_t value) { return value > INT64_MAX ? kAbsent : static_cast<int64_t>(value); }
// Returns the value of a field that carries the value plus one, where 0 is absent.
inline int64_t WideOrNone(uint64_t value) { return value == 0 ? kAbsent : Wide(value - 1); }
// Returns the value of a field in which 0 is absent.
inline int64_t OrNone(uint64_t value) { return value == 0 ? kAbsent : Wide(value); }

}  // namespace gapless::internal::cupti
