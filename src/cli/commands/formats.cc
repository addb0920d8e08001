// SPDX-License-Identifier: Apache-2.0
// The command `gapless formats`: lists the readers with the extensions of their files. The extensions are only a help
// for people: a file is recognised by its content.
//
//   kineto  Traces of PyTorch (Kineto), TensorFlow, JAX, rocprof: JSON, also gzip or Zstandard
//     files: .json .json.gz .json.zst
#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "ingest/reader.h"

namespace gapless::internal::formats_command {
namespace documents {

struct ReadableFormat {
  std::string name{}, help{};
  std::vector<std::string> extensions{};
  static constexpr FieldInfo kFields[] = {
      Field<&ReadableFormat::name>("name", "", "name of the format"),
      Field<&ReadableFormat::help>("help", "", "the format in a line"),
      Field<&ReadableFormat::extensions>("extensions", "", "how names of such files end"),
  };
};

struct Formats {
  std::vector<ReadableFormat> formats{};
  static constexpr FieldInfo kFields[] = {Field<&Formats::formats>("formats", "", "formats that can be read")};
};

}  // namespace documents

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
  documents::Formats document;
  for (const Reader* reader : AllReaders())
    document.formats.push_back(
        {std::string(reader->name), std::string(reader->help), {reader->extensions.begin(), reader->extensions.end()}});
  return DocumentOf("formats", document);
}

Result<int> Execute(const Arguments& arguments, Session&) { return PrintTextOrJson(arguments, AsText, AsJson); }

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Formats>::kInfo};
constexpr Example kExamples[] = {{"gapless formats", "Lists the formats"}};

}  // namespace

COMMAND(formats) = {
    .name = "formats",
    .place = {groups::kMore, 5},
    .help = "List the file formats that can be read",
    .about =
        "Lists the formats of recordings that can be read. The format of a file is detected from its content,"
        " not from its name.",
    .examples = kExamples,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::formats_command
