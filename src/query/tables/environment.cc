// SPDX-License-Identifier: Apache-2.0
// SQL table environment: the settings and versions that a recorder wrote down, as texts.
#include "query/cells.h"

namespace gapless::internal::environment_sqltable {

SQL_TABLE(environment) = kStored<&Trace::environment>;

}  // namespace gapless::internal::environment_sqltable
