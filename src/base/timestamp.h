// SPDX-License-Identifier: Apache-2.0
// Points in time as people and files write them, exact to the nanosecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gapless::internal {

// Returns the time of the system's clock, which can be set back.
int64_t UnixTimeNs();  // now

// RFC 3339 in UTC with as many decimals as are needed: "2026-11-21T23:27:13Z", "2026-11-21T23:27:13.123456789Z".
std::string FormatTimestamp(int64_t unix_ns);

// RFC 3339 and what databases write: a date, or a date and a time with "T" or a space between them, decimals, and "Z",
// "+01", "+0100" or "+01:00"; without a zone it is UTC. Absent: no such time, or not between the years 1678 and 2262.
std::optional<int64_t> ParseTimestamp(std::string_view text);

// Times as tools write them into their logs, taken less exactly: also "2024/09/08 13:03:31.000", "20240908 13:03:31",
// numbers of fewer digits, and seconds or milliseconds since 1970. Spaces before it and text behind it are passed over,
// days and hours beyond the last one are counted on, and without a zone it is a local time of this machine. Absent: no
// such time with seconds, or not between the years 1980 and 2200.
std::optional<int64_t> ParseLoggedTime(std::string_view text);

// The end of a range that `text` names: of the whole day when it is a date only, else the time itself.
std::optional<int64_t> ParseUntil(std::string_view text);

}  // namespace gapless::internal
