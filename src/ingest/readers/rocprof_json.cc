// SPDX-License-Identifier: Apache-2.0
// rocprofv3 --output-format json: one document with a list of processes under "rocprofiler-sdk-tool".
// docs/formats/rocm.md describes what is read.
//
// The document is parsed as a whole, so it takes some times its size in memory. One that ends in the middle is closed
// behind its last whole record (rocprof_json/close.h), and read as far as it goes.
#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/readers/rocprof_json/close.h"
#include "ingest/readers/rocprof_json/process.h"

namespace gapless::internal::rocprof_json_reader {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kExtensions[] = {".json", ".json.gz"};
constexpr std::string_view kKey = "\"rocprofiler-sdk-tool\"";
constexpr std::string_view kHint = "write it again: rocprofv3 --sys-trace --output-format json -- ./program";

Sniff SniffHead(std::string_view head) {
  const size_t at = head.find_first_not_of(" \n\r\t\xEF\xBB\xBF");
  if (at == std::string_view::npos || head[at] != '{') return Sniff::kNo;
  const size_t key = head.find_first_not_of(" \n\r\t", at + 1);
  return key != std::string_view::npos && head.substr(key).starts_with(kKey) ? Sniff::kYes : Sniff::kNo;
}

// Reads each process of the list; older versions have one process in its place.
void ReadProcesses(const dom::element& of, const ReadContext& context, TraceBuilder& builder, rocm::Meaning& meaning) {
  dom::array list;
  if (of.get(list) != simdjson::SUCCESS) return rocm::ReadJsonProcess(of, context, builder, meaning);
  for (const dom::element process : list) rocm::ReadJsonProcess(process, context, builder, meaning);
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(std::string text, ReadAll(source));
  dom::parser parser;
  dom::element document, processes;
  auto error = parser.parse(text).get(document);
  if (error != simdjson::SUCCESS && rocm::CloseJson(text)) {
    error = parser.parse(text).get(document);
    builder.Count("truncated_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  "the file ends in the middle or is damaged; the records before are all there");
  }
  if (error != simdjson::SUCCESS || document["rocprofiler-sdk-tool"].get(processes) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the JSON of rocprofv3 cannot be read: it is damaged", source.path(),
                std::string(kHint));
  rocm::Meaning meaning(builder, builder.NewShard());
  ReadProcesses(processes, context, builder, meaning);
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  if (meaning.events() == 0)
    return Fail(ErrorCode::kInput, "this JSON of rocprofv3 holds no record", source.path(), std::string(kHint));
  meaning.Finish();
  builder.info().framework = "rocprof";
  return {};
}

}  // namespace

READER(rocprof_json) = {.name = "rocprof_json",
                        .help = "ROCm's profiler, as JSON: rocprofv3 --output-format json",
                        .extensions = kExtensions,
                        .sniff = SniffHead,
                        .read = Read,
                        .complete = rocm::CompleteTrace};

}  // namespace gapless::internal::rocprof_json_reader
