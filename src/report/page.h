// SPDX-License-Identifier: Apache-2.0
// The pages of web/, bundled when the program was built (cmake/WebPage.cmake), and data put into them.
#pragma once

#include <string>
#include <string_view>

namespace gapless::internal {

// HTML with the marker <!--data--> where data belong. They live as long as the program.
std::string_view PageWithCharts();     // of a recording and of trends
std::string_view PageWithoutCharts();  // of optimize: a twentieth of the size

// `json`: one document, as the data.ts of the page in web/src/ describes it. It is inert: in a script element that is
// not a script, with every "<" escaped, so that no text in it can end it. `without_script` is markup that is shown
// where scripts do not run; empty: the page's own words.
std::string FilledPage(std::string_view page, std::string_view json, std::string_view without_script = {});

// The same for a page that a server shows, which may ask that server.
struct ServedPage {
  std::string html;
  std::string policy;  // content security policy, for the header of the answer
};
ServedPage FilledPageToServe(std::string_view page, std::string_view json);

}  // namespace gapless::internal
