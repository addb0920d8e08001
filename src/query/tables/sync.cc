// SPDX-License-Identifier: Apache-2.0
// SQL table sync: host calls that wait for the GPU, and streams that wait for an event. dur_ns is the length of the
// call, wait_ns the part of it that was spent waiting.
#include "query/cells.h"

namespace gapless::internal::sync_sqltable {

SQL_TABLE(sync) = kStored<&Trace::syncs, &IdBase::sync>;

}  // namespace gapless::internal::sync_sqltable
