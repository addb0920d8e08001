// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <cstdio>
#include <cstdlib>

#include "base/redact.h"
#include "base/strings.h"

namespace gapless::internal::log {

void Warning(std::string_view text) {
  const char* level = std::getenv("GAPLESS_LOG");  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  const std::string_view name = level == nullptr ? "" : level;
  if (name == "error" || name == "off") return;
  std::fputs(StrCat("gapless: warning: ", RedactText(Printable(text)), "\n").c_str(), stderr);
}

}  // namespace gapless::internal::log
