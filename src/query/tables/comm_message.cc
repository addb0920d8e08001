// SPDX-License-Identifier: Apache-2.0
// SQL table comm_message.
#include "query/cells.h"

namespace gapless::internal::comm_message_sqltable {

SQL_TABLE(comm_message) = kStored<&Trace::comm_messages>;

}  // namespace gapless::internal::comm_message_sqltable
