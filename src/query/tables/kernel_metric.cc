// SPDX-License-Identifier: Apache-2.0
// SQL table kernel_metric: one row per kernel launch and metric, from a kernel profiler. No reader fills gpu_op_id yet.
#include "query/cells.h"

namespace gapless::internal::kernel_metric_sqltable {

SQL_TABLE(kernel_metric) = kStored<&Trace::kernel_metrics>;

}  // namespace gapless::internal::kernel_metric_sqltable
