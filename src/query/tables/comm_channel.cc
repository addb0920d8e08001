// SPDX-License-Identifier: Apache-2.0
// SQL table comm_channel.
#include "query/cells.h"

namespace gapless::internal::comm_channel_sqltable {

SQL_TABLE(comm_channel) = kStored<&Trace::comm_channels>;

}  // namespace gapless::internal::comm_channel_sqltable
