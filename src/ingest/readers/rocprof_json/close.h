// SPDX-License-Identifier: Apache-2.0
// Closes JSON that ends in the middle.
#pragma once

#include <string>

namespace gapless::internal::rocm {

// Cuts the text behind its last whole member of a list, and closes all that is open there. Returns false if there is
// no such place.
bool CloseJson(std::string& text);

}  // namespace gapless::internal::rocm
