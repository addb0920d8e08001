// SPDX-License-Identifier: Apache-2.0
// Values of a CUPTI stream as values of columns.
#pragma once

#include <cstdint>

#include "trace/ids.h"

namespace gapless::internal::cupti {

// Returns the value, or absent if it does not fit: a value that large comes from damage.
inline int32_t Narrow(uint64_t value) { return value > INT32_MAX ? kAbsent32 : static_cast<int32_t>(value); }
inline int64_t Wide(uint64_t value) { return value > INT64_MAX ? kAbsent : static_cast<int64_t>(value); }
// Returns the value of a field that carries the value plus one, where 0 is absent.
inline int64_t WideOrNone(uint64_t value) { return value == 0 ? kAbsent : Wide(value - 1); }
// Returns the value of a field in which 0 is absent.
inline int64_t OrNone(uint64_t value) { return value == 0 ? kAbsent : Wide(value); }

}  // namespace gapless::internal::cupti
