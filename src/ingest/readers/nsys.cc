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

using Part = void (*)(nsys::Database&, nsys::Meaning&);
// The tables of the host, and those of the devices: about as much of each, so two threads read them side by side.
constexpr Part kHostParts[] = {nsys::ReadCalls,   nsys::ReadRanges,      nsys::ReadOverhead,
                               nsys::ReadSyncs,   nsys::ReadDiagnostics, nsys::ReadCpuSamples,
                               nsys::ReadOsCalls, nsys::ReadSwitches,    nsys::CountLeftOut};
constexpr Part kDeviceParts[] = {nsys::ReadKernels, nsys::ReadCopies,      nsys::ReadGraphs,
                                 nsys::ReadMetrics, nsys::ReadAllocations, nsys::ReadPageFaults};

void ReadParts(std::span<const Part> parts, nsys::Database& database, nsys::Meaning& meaning,
               const ReadContext& context) {
  for (const Part part : parts) {
    if (context.cancelled()) return;
    if (context.progress) context.progress();
    part(database, meaning);
  }
}

void CountDamage(const nsys::Database& database, TraceBuilder& builder) {
  if (!database.damage().empty())
    builder.Count("damaged_input", Severity::kError, 1, kAbsent,
                  StrCat("reading of a table stopped: ", database.damage()));
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const auto database, nsys::Database::Open(source, context));
  if (!database->Holds("StringIds")) return RefuseForeign(*database, source.path());
  nsys::About about;
  nsys::ReadAbout(*database, builder, about);
  // Correlations of processes that are not known beforehand need rows in one order.
  const bool beside = database->in_place() && about.facts.correlations.knows_any();
  if (beside) about.facts.correlations.PlaceByPid();
  nsys::Meaning host(about.facts, builder.NewShard()), device(about.facts, builder.NewShard());
  host.shard().BeginChunk(0), device.shard().BeginChunk(1);
  if (beside) {
    GAPLESS_ASSIGN(const auto again, nsys::Database::Open(source, context));
    context.pool.ParallelFor(2, [&](size_t i) {
      if (i == 0) ReadParts(kHostParts, *database, host, context);
      if (i == 1) ReadParts(kDeviceParts, *again, device, context);
    });
    nsys::Meaning::AddCalls({&host, &device});
    CountDamage(*again, builder);
  } else {
    ReadParts(kHostParts, *database, host, context);
    nsys::Meaning::AddCalls({&host});
    ReadParts(kDeviceParts, *database, host, context);
  }
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  nsys::Meaning::AddSamples({&host}, builder);
  nsys::Meaning::AddRuns({&host});
  nsys::Meaning::Finish({&host, &device}, builder);
  CountDamage(*database, builder);
  builder.info().start_unix_ns = about.session_start_unix_ns;  // completed in CompleteTrace()
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
