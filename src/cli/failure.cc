// SPDX-License-Identifier: Apache-2.0
// Formats errors as text and as JSON. An error has a message, a place and a hint.
//
// A message may quote a command or its output, so secrets are redacted in both formats. Control characters are removed
// from the text; JSON keeps and escapes them.
//
//   gapless: the file is empty
//     at: tests/data/empty.json
//     hint: `gapless formats` lists what can be read
#include "cli/failure.h"

#include "base/json_writer.h"
#include "base/redact.h"
#include "base/strings.h"
#include "base/version.h"

namespace gapless::internal {
namespace {

std::string_view NameOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage: return "usage";
    case ErrorCode::kInput: return "input";
    case ErrorCode::kEnvironment: return "environment";
    case ErrorCode::kCommand: return "command";
    case ErrorCode::kInterrupted: return "interrupted";
  }
  return "input";
}

}  // namespace

std::string DescribeError(const Error& error) {
  std::string text = StrCat("gapless: ", RedactText(Printable(error.message)), "\n");
  if (!error.place.empty()) text += StrCat("  at: ", RedactText(Printable(error.place)), "\n");
  if (!error.hint.empty()) text += StrCat("  hint: ", RedactText(Printable(error.hint)), "\n");
  return text;
}

std::string ErrorAsJson(const Error& error, int status) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Key("error");
  json.BeginObject();
  json.Field("code", NameOf(error.code));
  json.Field("message", RedactText(error.message));
  json.FieldUnlessEmpty("place", RedactText(error.place));
  json.FieldUnlessEmpty("hint", RedactText(error.hint));
  json.Field("exit_status", status);
  json.EndObject();
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
