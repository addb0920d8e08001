// SPDX-License-Identifier: Apache-2.0
// Idle time that belongs to a copy: the calling thread moves the bytes itself, or waits until they are moved, while the
// device has nothing to do.
#pragma once

#include "analyses/copy_kinds.h"
#include "analyses/timeline.h"

namespace gapless::internal {

// Is `part` of `gap` the time in which the call that launched a large pageable copy, the operation that ends the gap,
// was at work? Small copies are no matter of bytes, and of others the call waits for the device only: their time stays
// with the wait they are part of.
inline bool IsCopyAtWork(const Trace& trace, const IdleGap& gap, const IdlePart& part) {
  if (part.cause != IdleCause::kSync || !gap.next.valid()) return false;
  const GpuOpTable& ops = trace.gpu_ops;
  return IsPageable(ops.copy_kind[gap.next.value]).value_or(false) && part.slice == ops.launch[gap.next.value] &&
         ops.bytes[gap.next.value] > kSmallCopyBytes;
}

}  // namespace gapless::internal
