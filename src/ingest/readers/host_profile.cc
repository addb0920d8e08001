// SPDX-License-Identifier: Apache-2.0
// Reads where the Python code of a process spent its time, as the agent summed it up: python-<pid>.host.json in a
// run directory (docs/run_bundle.md). Functions and lines become rows of host_function.
//
// The document is held in memory and parsed as a whole, up to 1 GiB. An entry that is no object is counted and
// left out; a field that is missing or of another type is absent. The reader only takes documents that begin
// exactly as the agent writes them, so other JSON is left to the reader of Kineto.
#include <simdjson.h>

#include "base/strings.h"
#include "base/version.h"
#include "ingest/reader.h"

namespace gapless::internal::host_profile_reader {
namespace {

namespace dom = simdjson::dom;
constexpr std::string_view kExtensions[] = {".host.json"};
constexpr std::string_view kStart = R"({"format":"gapless.host")";
constexpr int64_t kProfileVersion = 1;
constexpr size_t kMaxBytes = size_t{1} << 30, kAtOnce = size_t{1} << 20;

Sniff SniffHead(std::string_view head) { return head.starts_with(kStart) ? Sniff::kYes : Sniff::kNo; }

Result<std::string> ReadDocument(Source& source) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  std::string all, buffer(kAtOnce, '\0');
  while (all.size() < kMaxBytes) {
    GAPLESS_ASSIGN(const auto got, stream->Read(buffer.data(), buffer.size()));
    if (got == 0) return all;
    all.append(buffer, 0, got);
  }
  return Fail(ErrorCode::kInput, "a profile of functions that is larger than 1 GiB", source.path(),
              "this file was not written by gapless");
}

// Returns the whole number at `key`, or kAbsent.
int64_t IntOf(const dom::object& object, std::string_view key) {
  int64_t value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : kAbsent;
}

std::string_view TextOf(const dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// Adds the rows of the array `key`; an entry that is no object is counted. `calls` names the field with the number
// of calls: lines have "hits" instead.
void AddRows(const dom::object& document, std::string_view key, std::string_view calls, TraceBuilder& builder) {
  dom::array rows;
  if (document[key].get(rows) != simdjson::SUCCESS) return;
  for (const dom::element element : rows) {
    dom::object row;
    if (element.get(row) != simdjson::SUCCESS) {
      builder.Count("bad_record", Severity::kLoss, 1, kAbsent, "an entry that is no function");
      continue;
    }
    ++builder.info().event_count;
    builder.AddHostFunction({.file = TextOf(row, "file"),
                             .line = IntOf(row, "line"),
                             .function = TextOf(row, "function"),
                             .calls = IntOf(row, calls),
                             .self_ns = IntOf(row, "self_ns"),
                             .total_ns = IntOf(row, "total_ns"),
                             .bytes = IntOf(row, "bytes")});
  }
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  GAPLESS_ASSIGN(const auto text, ReadDocument(source));
  dom::parser parser;
  dom::object document;
  if (parser.parse(text).get(document) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the file is no valid JSON: it was cut off or damaged", source.path(),
                "the process was killed while it wrote it; the other files of the run are not affected");
  if (const int64_t version = IntOf(document, "version"); version != kProfileVersion)
    return FromAnotherVersion("this profile of Python", version, kProfileVersion, source.path());
  TraceInfo& info = builder.info();
  info.pid = IntOf(document, "pid");
  info.start_unix_ns = IntOf(document, "start_unix_ns");
  builder.AddEnvironment("python.profile", TextOf(document, "kind"));
  AddRows(document, "functions", "calls", builder);
  AddRows(document, "lines", "hits", builder);
  return {};
}

}  // namespace

READER(host_profile) = {.name = "host_profile",
                        .help = "Python functions of a run by time, as gapless's agent sampled or counted them",
                        .extensions = kExtensions,
                        .sniff = SniffHead,
                        .read = Read,
                        .complete = nullptr};

}  // namespace gapless::internal::host_profile_reader
