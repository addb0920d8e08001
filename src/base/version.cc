// SPDX-License-Identifier: Apache-2.0
// Says of a file which version it has, which this program reads, and which of the two is to change.
#include "base/version.h"

#include "base/strings.h"

namespace gapless::internal {

Unexpected FromAnotherVersion(std::string_view what, int64_t version, int64_t newest_known, std::string place,
                              ErrorCode code) {
  const bool is_newer = version > newest_known;
  return Fail(code,
              StrCat(what, " has version ", version, ", and gapless ", kVersion, " reads version ", newest_known,
                     is_newer && newest_known > 1 ? " and older" : ""),
              std::move(place), is_newer ? "update gapless: a newer one wrote it" : "it is damaged: copy it again");
}

}  // namespace gapless::internal
