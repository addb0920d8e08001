// SPDX-License-Identifier: Apache-2.0
// The tables of an nsys export as rows. Tables that are not there have none.
#pragma once

#include "ingest/reader.h"
#include "ingest/readers/nsys/database.h"
#include "ingest/readers/nsys/facts.h"
#include "ingest/readers/nsys/meaning.h"

namespace gapless::internal::nsys {

// The facts around the events, from one export.
struct About {
  Facts facts{};
  int64_t session_start_unix_ns = kAbsent;
};
// Reads versions, texts, processes and GPUs; host, rank and names go into the builder.
void ReadAbout(Database& database, TraceBuilder& builder, About& about);

// Each gives the rows of one kind, or of two that share their columns, to `meaning`.
void ReadCalls(Database& database, Meaning& meaning);
void ReadRanges(Database& database, Meaning& meaning);
void ReadOverhead(Database& database, Meaning& meaning);
void ReadKernels(Database& database, Meaning& meaning);
void ReadCopies(Database& database, Meaning& meaning);
void ReadGraphs(Database& database, Meaning& meaning);
void ReadSyncs(Database& database, Meaning& meaning);
void ReadMetrics(Database& database, Meaning& meaning);
void ReadAllocations(Database& database, Meaning& meaning);
void ReadDiagnostics(Database& database, Meaning& meaning);
void ReadCpuSamples(Database& database, Meaning& meaning);
void ReadOsCalls(Database& database, Meaning& meaning);
void ReadSwitches(Database& database, Meaning& meaning);
void ReadPageFaults(Database& database, Meaning& meaning);
void CountLeftOut(Database& database, Meaning& meaning);

}  // namespace gapless::internal::nsys
