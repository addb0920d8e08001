// SPDX-License-Identifier: Apache-2.0
// SQL table sample: samples of host call stacks.
#include "query/cells.h"

namespace gapless::internal::sample_sqltable {

SQL_TABLE(sample) = kStored<&Trace::samples>;

}  // namespace gapless::internal::sample_sqltable
