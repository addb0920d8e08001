// SPDX-License-Identifier: Apache-2.0
#include "report/sarif.h"

#include <cctype>

#include "base/described_json.h"
#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal::sarif {
namespace {

struct Log {
  std::string_view schema = "https://json.schemastore.org/sarif-2.1.0.json", version = "2.1.0";
  std::vector<Run> runs{};
  static constexpr FieldInfo kFields[] = {Field<&Log::schema>("$schema", "", "where SARIF is described"),
                                          Field<&Log::version>("version", "", "of SARIF"),
                                          Field<&Log::runs>("runs", "", "one")};
};

}  // namespace

std::string UriOf(std::string_view path) {
  std::string slashes(path);
  const bool has_drive = path.size() > 2 && path[1] == ':' && std::isalpha(static_cast<unsigned char>(path[0])) != 0;
  if (has_drive || path.starts_with("\\\\"))
    for (char& c : slashes)
      if (c == '\\') c = '/';
  std::string uri = has_drive                   ? "file:///"
                    : slashes.starts_with("//") ? "file:"
                    : slashes.starts_with('/')  ? "file://"
                                                : "";
  constexpr std::string_view kPlain = "-._~/!$&'()*+,;=:@", kDigits = "0123456789ABCDEF";
  for (size_t i = 0; i < slashes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(slashes[i]);
    // A colon in the first part of a relative path would read as a scheme.
    const bool is_scheme = byte == ':' && uri.find('/') == uri.npos;
    if (byte < 0x80 && !is_scheme && (std::isalnum(byte) != 0 || kPlain.find(slashes[i]) != kPlain.npos))
      uri += slashes[i];
    else
      uri += StrCat("%", kDigits.substr(byte >> 4, 1), kDigits.substr(byte & 15, 1));
  }
  return uri;
}

std::string Write(Run run) {
  run.tool.driver.version = kVersion;
  Log log;
  log.runs.push_back(std::move(run));
  std::string out;
  JsonWriter json(out, 2);
  WriteJson(json, log);
  return out + "\n";
}

}  // namespace gapless::internal::sarif
