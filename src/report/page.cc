// SPDX-License-Identifier: Apache-2.0
// Puts data into the page of web/ at its marker. Every "<" becomes \u003c, which JSON reads as the same text, so that
// "</script>" in a name cannot end the element. The page is bundled with the program, so its markers are always there.
#include "report/page.h"

namespace gapless::internal {

// Reserves a sixteenth more than the document's size for the escapes.
std::string FilledPage(std::string_view page, std::string_view json, std::string_view without_script) {
  constexpr std::string_view kMarker = "<!--data-->", kBegin = "<noscript>", kEnd = "</noscript>";
  const size_t words = page.find(kBegin) + kBegin.size(), words_end = page.find(kEnd, words),
               marker = page.find(kMarker, words_end);
  std::string out;
  out.reserve(page.size() + without_script.size() + json.size() + json.size() / 16);
  out += page.substr(0, words);
  out += without_script.empty() ? page.substr(words, words_end - words) : without_script;
  out += page.substr(words_end, marker - words_end);
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out += page.substr(marker + kMarker.size());
}

// The policy stands in the page's head, before any data.
ServedPage FilledPageToServe(std::string_view page, std::string_view json) {
  constexpr std::string_view kPolicy = "default-src 'none';", kMayAsk = " connect-src 'self';";
  ServedPage served;
  served.html = FilledPage(page, json);
  const size_t begin = served.html.find(kPolicy);
  served.html.insert(begin + kPolicy.size(), kMayAsk);
  served.policy = served.html.substr(begin, served.html.find('"', begin) - begin) + "; frame-ancestors 'none'";
  return served;
}

}  // namespace gapless::internal
