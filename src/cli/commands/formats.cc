// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

std::string Extensions(const Reader& reader) {
  const std::vector<std::string> names(reader.extensions.begin(), reader.extensions.end());
  return Join(names, " ");
}

std::string AsText() {
  std::string out;
  for (const Reader* reader : AllReaders()) {
    out += StrCat(reader->name, "  ", reader->help, "\n", "  files: ", Extensions(*reader), "\n");
  }
  return out + "also inside .tar.gz, and compressed with gzip or zstd\n";
}

std::string AsJson() {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Key("formats");
  json.BeginArray();
  for (const Reader* reader : AllReaders()) {
    json.BeginObject();
    json.Field("name", reader->name);
    json.Field("help", reader->help);
    json.Key("extensions");
    json.BeginArray();
    for (const std::string_view extension : reader->extensions) json.String(extension);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

Result<int> Execute(const Arguments& arguments, Session&) { return PrintTextOrJson(arguments, AsText, AsJson); }

constexpr Example kExamples[] = {{"gapless formats", "Lists the formats"}};

}  // namespace

COMMAND(formats) = {
    .name = "formats",
    .help = "List the file formats that can be read",
    .about =
        "Lists the formats of recordings that can be read. The format of a file is found from its content, "
        "not from its name.",
    .positionals = {},
    .options = {},
    .examples = kExamples,
    .run = Execute};

}  // namespace gapless::internal
