// SPDX-License-Identifier: Apache-2.0
// Nsight Systems: its own report. docs/formats/nsys_rep.md describes the layout, which is known from looking at files,
// and what is read.
//
// Texts, threads and GPUs stand behind the events that refer to them, so they are read first. Then each thread takes
// one block of events after the other: no more than a block a thread is in memory beside the columns.
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/nsys/meaning.h"
#include "ingest/readers/nsys_rep/about.h"
#include "ingest/readers/nsys_rep/container.h"
#include "ingest/readers/nsys_rep/events.h"

namespace gapless::internal::nsys_rep_reader {
namespace {

constexpr std::string_view kExtensions[] = {".nsys-rep", ".qdrep"};

Sniff SniffHead(std::string_view head) { return head.starts_with(nsys_rep::kMagic) ? Sniff::kYes : Sniff::kNo; }

// One thread's part of the reading.
struct Part {
  Part(const nsys_rep::About& about, TraceBuilder::Shard& shard)
      : meaning(about.facts, shard), events(about.layouts, meaning) {}
  nsys::Meaning meaning;
  nsys_rep::Events events;
  std::optional<Error> error{};
};

// Takes blocks until there are none, or one cannot be read.
Result<void> TakeBlocks(nsys_rep::Container& report, const ReadContext& context, nsys_rep::Events& events) {
  std::string stored, unpacked;
  for (;;) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", report.path());
    GAPLESS_ASSIGN(const auto block, report.NextBlock());
    if (!block) return {};
    std::string_view message;
    GAPLESS_TRY(report.Unpack(*block, stored, unpacked, message));
    if (!events.Take(block->order, message))
      return nsys_rep::Refuse(report.path(), StrCat("the block at byte ", block->offset, " is damaged"));
    if (context.progress) context.progress();
  }
}

void CountAgainst(int64_t said, int64_t found, std::string_view what, TraceBuilder& builder) {
  if (said == kAbsent || said == found) return;
  builder.Count("index_differs", Severity::kLoss, 1, kAbsent,
                StrCat("the index of the report counts ", said, " ", what, ", and ", found, " were found"));
}

// Compares what the index says with what was read, and names the processes in the order of the file.
void Settle(const nsys_rep::About& about, const std::vector<Part*>& parts, TraceBuilder& builder) {
  int64_t events = 0, generic = 0, damaged = about.damaged;
  std::vector<nsys_rep::ProcessName> processes;
  for (const Part* part : parts) {
    events += part->events.events(), generic += part->events.generic(), damaged += part->events.damaged();
    processes.insert(processes.end(), part->events.processes().begin(), part->events.processes().end());
  }
  std::ranges::stable_sort(processes, {}, &nsys_rep::ProcessName::order);
  for (const auto& process : processes) builder.NameProcess(process.pid, process.name);
  builder.Count("damaged_events", Severity::kLoss, damaged, kAbsent, "events cannot be read and were left out");
  CountAgainst(about.events, events, "events", builder);
  CountAgainst(about.texts, static_cast<int64_t>(about.facts.texts.size()), "texts", builder);
  CountAgainst(about.threads, about.threads_found, "threads", builder);
  CountAgainst(about.generic, generic, "generic events", builder);
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const auto report, nsys_rep::Container::Open(source));
  nsys_rep::About about;
  nsys_rep::ReadAbout(*report, builder, about);
  std::vector<std::unique_ptr<Part>> owned;
  std::vector<Part*> parts;
  std::vector<nsys::Meaning*> meanings;
  for (size_t i = 0; i < std::max<size_t>(context.pool.size(), 1); ++i) {
    owned.push_back(std::make_unique<Part>(about, builder.NewShard()));
    parts.push_back(owned.back().get());
    meanings.push_back(&parts.back()->meaning);
  }
  context.pool.ParallelFor(parts.size(), [&](size_t i) {
    if (auto taken = TakeBlocks(*report, context, parts[i]->events); !taken) parts[i]->error = taken.error();
  });
  for (const Part* part : parts)
    if (part->error) return Unexpected{*part->error};
  parts.front()->meaning.shard().BeginChunk(UINT64_MAX);
  nsys::Meaning::AddCalls(meanings);
  nsys::Meaning::AddSamples(meanings, builder);
  nsys::Meaning::AddRuns(meanings);
  nsys::Meaning::Finish(meanings, builder);
  Settle(about, parts, builder);
  builder.info().format = "nsys";                              // the rows mean what those of an export mean
  builder.info().start_unix_ns = about.session_start_unix_ns;  // completed in CompleteTrace()
  return {};
}

}  // namespace

READER(nsys_rep) = {.name = "nsys_rep",
                    .help = "Nsight Systems, its own report: nsys profile",
                    .extensions = kExtensions,
                    .sniff = SniffHead,
                    .read = Read,
                    .complete = nsys::CompleteTrace};

}  // namespace gapless::internal::nsys_rep_reader
