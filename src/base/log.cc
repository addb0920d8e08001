// SPDX-License-Identifier: Apache-2.0
// Implements the log on stderr over spdlog. GAPLESS_LOG sets the level at the start. Lines read "gapless: warning:
// …". Safe for several threads: the sink has a lock.
#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>
#include <memory>

#include "base/redact.h"
#include "base/strings.h"

namespace gapless::internal::log {
namespace {

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
    case Level::kOff: return spdlog::level::off;
  }
  return spdlog::level::warn;
}

Level FromEnvironment() {
  const char* text = std::getenv("GAPLESS_LOG");  // NOLINT(concurrency-mt-unsafe): read once, nothing here sets it
  const std::string_view name = text == nullptr ? "" : text;
  if (name == "debug") return Level::kDebug;
  if (name == "info") return Level::kInfo;
  if (name == "error") return Level::kError;
  if (name == "off") return Level::kOff;
  return Level::kWarning;
}

spdlog::logger& Logger() {
  static spdlog::logger logger = [] {
    spdlog::logger made("gapless", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("gapless: %l: %v");
    made.set_level(ToSpdlog(FromEnvironment()));
    return made;
  }();
  return logger;
}

// Texts carry names out of recordings, and commands of users, so they are made safe for the terminal, and for who reads
// it: one line, no control characters, no secrets.
void Print(spdlog::level::level_enum level, std::string_view text) {
  if (Logger().should_log(level)) Logger().log(level, RedactText(Printable(text)));
}

}  // namespace

void SetLevel(Level level) { Logger().set_level(ToSpdlog(level)); }
void Debug(std::string_view text) { Print(spdlog::level::debug, text); }
void Info(std::string_view text) { Print(spdlog::level::info, text); }
void Warning(std::string_view text) { Print(spdlog::level::warn, text); }
void Error(std::string_view text) { Print(spdlog::level::err, text); }

}  // namespace gapless::internal::log
