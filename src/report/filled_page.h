// SPDX-License-Identifier: Apache-2.0
// The page of web/ with data in it.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal {

// `json`: one document, as web/src/data.ts or web/src/trend/data.ts describes it. It is inert: in a script element that
// is not a script, with every "<" escaped, so that no text in it can end it. `without_script` is markup that is shown
// where scripts do not run; empty: the page's own words.
std::string FilledPage(std::string_view json, std::string_view without_script = {});

}  // namespace gapless::internal
