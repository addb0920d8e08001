// SPDX-License-Identifier: Apache-2.0
// Nsight Systems: the SQLite file that `nsys export --type sqlite` writes. docs/formats/nsys.md describes what is read.
//
// Tables and columns come and go with the version, so each table is asked which columns it has; all but a few may be
// missing. Several processes may be in one file: a correlation id is unique within a process only, so ids are made
// distinct before launches are joined with what they launched.
#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys/tables.h"

namespace gapless::internal::nsys_reader {
namespace {

constexpr std::string_view kExtensions[] = {".sqlite"};

Sniff SniffHead(std::string_view head) {
  if (!head.starts_with(std::string_view("SQLite format 3\0", 16))) return Sniff::kNo;
  return head.find("StringIds") != std::string_view::npos ? Sniff::kYes : Sniff::kMaybe;
}

// Returns the error for a database of another program, named if a table of it is known.
Unexpected RefuseForeign(const nsys::Database& database, const std::string& path) {
  struct Program {
    std::string_view table, name;  // table: a pattern as GLOB has them
  };
  // rocprofv3 adds an identifier to the names of its tables.
  constexpr Program kPrograms[] = {{"rocpd_*", "a database of rocprofv3 (rocpd)"},
                                   {"CUPTI_ACTIVITY_KIND_MARKER", "a file of nvprof or the Visual Profiler"}};
  for (const auto& [table, name] : kPrograms)
    if (database.HoldsLike(table))
      return Fail(ErrorCode::kInput, StrCat("this is ", name, ", which cannot be read"), path,
                  "`gapless formats` lists what can be read");
  return Fail(ErrorCode::kInput, "an SQLite file, but none of Nsight Systems", path,
              "nsys export --type sqlite REPORT.nsys-rep");
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(auto database, nsys::Database::Open(source, context));
  if (!database->Holds("StringIds")) return RefuseForeign(*database, source.path());
  nsys::About about;
  nsys::ReadAbout(*database, builder, about);
  nsys::Meaning meaning(about.facts, builder.NewShard());
  using Part = void (*)(nsys::Database&, nsys::Meaning&);
  constexpr Part kParts[] = {nsys::ReadCalls,       nsys::ReadRanges,      nsys::ReadOverhead, nsys::ReadKernels,
                             nsys::ReadCopies,      nsys::ReadGraphs,      nsys::ReadSyncs,    nsys::ReadMetrics,
                             nsys::ReadAllocations, nsys::ReadDiagnostics, nsys::CountLeftOut};
  for (const Part part : kParts) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    if (context.progress) context.progress();
    part(*database, meaning);
    if (part == nsys::ReadCalls) nsys::Meaning::AddCalls({&meaning});
  }
  nsys::Meaning::Finish({&meaning}, builder);
  if (!database->damage().empty())
    builder.Count("damaged_input", Severity::kError, 1, kAbsent,
                  StrCat("reading of a table stopped: ", database->damage()));
  builder.info().start_unix_ns = about.session_start_unix_ns;  // completed in Complete()
  return {};
}

}  // namespace

READER(nsys) = {.name = "nsys",
                .help = "Nsight Systems, exported: nsys export --type sqlite",
                .extensions = kExtensions,
                .sniff = SniffHead,
                .read = Read,
                .complete = nsys::CompleteTrace};

}  // namespace gapless::internal::nsys_reader
