// SPDX-License-Identifier: Apache-2.0
// Decodes UTF-16, skips lines before the table's head, and finds ncu's own error message.
#include "ingest/readers/ncu_csv/text.h"

#include <algorithm>

#include "base/csv.h"
#include "base/strings.h"

namespace gapless::internal::ncu {
namespace {

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) return void(out += static_cast<char>(code));
  if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
  } else {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
  }
  out += static_cast<char>(0x80 | (code & 0x3F));
}

bool Has(const std::vector<std::string>& fields, std::string_view name) {
  return std::ranges::find(fields, name) != fields.end();
}

}  // namespace

// Detects UTF-16 by its byte order mark only. Characters beyond 16 bits become replacement characters: names of
// metrics have none.
std::string ToUtf8(std::string text) {
  if (text.starts_with("\xEF\xBB\xBF")) return text.substr(3);
  const bool little = text.starts_with("\xFF\xFE"), big = text.starts_with("\xFE\xFF");
  if (!little && !big) return text;
  std::string out;
  for (size_t at = 2; at + 1 < text.size(); at += 2) {
    const auto first = static_cast<uint8_t>(text[at]), second = static_cast<uint8_t>(text[at + 1]);
    const uint32_t code = little ? first | second << 8 : second | first << 8;
    AppendUtf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
  }
  return out;
}

bool IsHead(const std::vector<std::string>& fields) {
  if (!Has(fields, "Kernel Name")) return false;
  if (Has(fields, "Metric Name")) return true;
  // A column per metric: their names hold two underscores.
  return std::ranges::any_of(fields, [](const std::string& field) { return field.find("__") != std::string::npos; }) ||
         (Has(fields, "ID") && Has(fields, "Process ID"));
}

// Tries each line that has the words, since a program's output may contain them, too.
size_t FindTable(std::string_view text) {
  for (size_t at = 0; (at = text.find("Kernel Name", at)) != std::string_view::npos; ++at) {
    const size_t before = text.rfind('\n', at);
    const size_t line = before == std::string_view::npos ? 0 : before + 1;
    std::vector<std::string> fields;
    CsvReader csv(text.substr(line));
    if (csv.Next(fields) && IsHead(fields)) return line;
  }
  return std::string_view::npos;
}

std::string FirstError(std::string_view text) {
  constexpr std::string_view kError = "==ERROR== ";
  const size_t at = text.find(kError);
  if (at == std::string_view::npos) return "";
  std::string_view line = text.substr(at + kError.size());
  line = line.substr(0, line.find_first_of("\r\n"));
  return Printable(line);
}

bool HasOwnLine(std::string_view text) {
  for (const std::string_view own : {"==PROF== ", "==ERROR== "}) {
    const size_t at = text.find(own);
    if (at != std::string_view::npos && (at == 0 || text[at - 1] == '\n')) return true;
  }
  return false;
}

void JoinBrackets(std::vector<std::string>& fields, size_t wanted) {
  for (size_t i = 0; fields.size() > wanted && i + 1 < fields.size(); ++i) {
    const auto open = [&] {
      return std::ranges::count(fields[i], '(') > std::ranges::count(fields[i], ')') ||
             std::ranges::count(fields[i], '<') > std::ranges::count(fields[i], '>');
    };
    while (fields.size() > wanted && i + 1 < fields.size() && open()) {
      fields[i] += StrCat(",", fields[i + 1]);
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
}

}  // namespace gapless::internal::ncu
