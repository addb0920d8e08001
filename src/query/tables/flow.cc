// SPDX-License-Identifier: Apache-2.0
// SQL table flow: arrows between two points of the timeline, as recorded. A launch is also in gpu_op.launch_id.
#include "query/cells.h"

namespace gapless::internal::flow_sqltable {

SQL_TABLE(flow) = kStored<&Trace::flows>;

}  // namespace gapless::internal::flow_sqltable
