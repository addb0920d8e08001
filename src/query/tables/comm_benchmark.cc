// SPDX-License-Identifier: Apache-2.0
// SQL table comm_benchmark.
#include "query/cells.h"

namespace gapless::internal::comm_benchmark_sqltable {

SQL_TABLE(comm_benchmark) = kStored<&Trace::comm_benchmarks>;

}  // namespace gapless::internal::comm_benchmark_sqltable
