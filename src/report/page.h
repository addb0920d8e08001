// SPDX-License-Identifier: Apache-2.0
// The page of web/ as it was bundled when the program was built (cmake/WebPage.cmake).
#pragma once

#include <string_view>

namespace gapless::internal {

// HTML with the marker <!--data--> where the data of a run belong. Lives as long as the program.
std::string_view ReportPage();

}  // namespace gapless::internal
