// SPDX-License-Identifier: Apache-2.0
// Suggests what to try after an SQL error.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal {

// For "no such table: x" the table meant or where to find the list; for "no such column: x" the column meant or those
// of the tables in the statement; "" when there is nothing to say.
std::string HintForSql(std::string_view message, std::string_view sql);

}  // namespace gapless::internal
