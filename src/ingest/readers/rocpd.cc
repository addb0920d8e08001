// SPDX-License-Identifier: Apache-2.0
// rocpd: the SQLite database that rocprofv3 writes, and ROCm's systems profiler. docs/formats/rocm.md describes what is
// read.
#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/rocpd/tables.h"

namespace gapless::internal::rocpd_reader {
namespace {

constexpr std::string_view kExtensions[] = {".db"};
constexpr std::string_view kHint = "write it again: rocprofv3 --sys-trace --output-format rocpd -- ./program";

Sniff SniffHead(std::string_view head) {
  if (!head.starts_with(std::string_view("SQLite format 3\0", 16))) return Sniff::kNo;
  return head.find("rocpd_") != std::string_view::npos ? Sniff::kYes : Sniff::kNo;
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const auto database, nsys::Database::Open(source, context, kHint));
  const std::vector<std::string> endings = rocm::EndingsOf(*database);
  if (endings.empty())
    return Fail(ErrorCode::kInput, "a database of rocprofv3 without its tables", source.path(), std::string(kHint));
  auto& shard = builder.NewShard();
  rocm::Meaning meaning(builder, shard);
  for (const std::string& ending : endings) rocm::ReadProcess(*database, ending, context, builder, meaning);
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  if (meaning.events() == 0)
    return Fail(ErrorCode::kInput,
                database->damage().empty() ? "this database of rocprofv3 holds no record"
                                           : "this database of rocprofv3 is damaged: no record could be read",
                source.path(), std::string(kHint));
  meaning.Finish();
  builder.info().framework = "rocprof";
  if (!database->damage().empty())
    builder.Count("damaged_input", Severity::kError, 1, kAbsent,
                  StrCat("reading of a table stopped: ", database->damage()));
  return {};
}

}  // namespace

READER(rocpd) = {.name = "rocpd",
                 .help = "ROCm's profilers, as a database: rocprofv3 --output-format rocpd",
                 .extensions = kExtensions,
                 .sniff = SniffHead,
                 .read = Read,
                 .complete = rocm::CompleteTrace};

}  // namespace gapless::internal::rocpd_reader
