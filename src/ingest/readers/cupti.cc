// SPDX-License-Identifier: Apache-2.0
// CUPTI: the stream that gapless' own collector writes in any CUDA program (wire/cupti_stream.h,
// docs/formats/cupti.md).
//
// Times are on CUPTI's clock, and what the wall clock said stands in the heads of the blocks: so the file is read
// twice, first the heads, then the records. Blocks are decoded by one thread; what takes time is making rows.
#include <cstring>

#include "base/strings.h"
#include "base/version.h"
#include "ingest/reader.h"
#include "ingest/readers/cupti/rows.h"
#include "ingest/refine.h"
#include "ingest/steps.h"

namespace gapless::internal::cupti_reader {
namespace {

using cupti::Block;
using cupti::BlockReader;
using cupti::ClockMap;
using cupti::Rows;

constexpr std::string_view kExtensions[] = {".gcs"};
// Smaller times are of a clock that does not count from 1970: they are no unix times.
constexpr int64_t kUnixTimeFrom = 1'000'000'000'000'000'000;  // ns: later than 2001

Sniff SniffHead(std::string_view head) {
  const std::string_view magic(wire::kCuptiMagic, sizeof wire::kCuptiMagic);
  return head.starts_with(magic) ? Sniff::kYes : Sniff::kNo;
}

// Returns the error for a stream whose header cannot be read: of another version, or ended too early.
Result<void> CannotBegin(const BlockReader& blocks, const std::string& path) {
  if (blocks.end() == BlockReader::End::kAnotherVersion)
    return FromAnotherVersion("this stream of the native collector", blocks.header().version, wire::kCuptiVersion,
                              path);
  if (blocks.end() == BlockReader::End::kDamaged)
    return Fail(ErrorCode::kInput, "the file's header is damaged", path, "copy it again");
  return Fail(ErrorCode::kInput, "the file ends before its first record", path,
              "the process had just begun to write it: record again");
}

// Reads the whole input once for the readings of both clocks in the heads of its blocks. They cannot be used while
// they are read: a time is interpolated with the reading that follows it.
Result<ClockMap> ReadClocks(Source& source, const ReadContext& context) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  BlockReader blocks(std::move(stream));
  ClockMap clocks;
  Block block;
  if (blocks.ReadHeader())
    while (!context.cancelled() && blocks.Next(block)) clocks.Add(block.header.cupti_ns, block.header.unix_ns);
  return clocks;
}

// Reports how the stream ended, the worst cause first. A process that was killed leaves a whole last block but no
// kFinish record, which costs at most what it had in memory.
void DescribeEnd(const BlockReader& blocks, const Rows& rows, TraceBuilder& builder) {
  const auto at = static_cast<int64_t>(blocks.offset());
  if (blocks.damaged_blocks() > 0)
    builder.Count("damaged_input", Severity::kError, blocks.damaged_blocks(), blocks.first_damaged(),
                  "parts of the file are damaged and were left out");
  if (blocks.stream_error())
    builder.Count("damaged_input", Severity::kError, 1, at,
                  StrCat("reading stopped: ", blocks.stream_error()->message));
  else if (blocks.end() == BlockReader::End::kDamaged)
    builder.Count("damaged_input", Severity::kError, 1, at,
                  "reading stopped: what follows is no part of such a stream");
  else if (blocks.end() == BlockReader::End::kTruncated)
    builder.Count("truncated_input", Severity::kError, 1, at,
                  "the file ends in the middle; the records before are all there");
  else if (!rows.finished())
    builder.Count("process_killed", Severity::kInfo, 1, at,
                  "the process did not end in order: up to its last second may be missing");
}

// Takes host and rank from the header; negative ranks and sizes mean that the process knew none.
void DescribeProcess(const wire::FileHeader& header, TraceBuilder& builder) {
  builder.info().host = Printable(header.host);
  if (header.rank >= 0) builder.info().rank = header.rank;
  if (header.world_size > 0) builder.info().world_size = header.world_size;
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const auto clocks, ReadClocks(source, context));
  GAPLESS_ASSIGN(auto stream, source.Open());
  BlockReader blocks(std::move(stream));
  if (!blocks.ReadHeader()) return CannotBegin(blocks, source.path());
  DescribeProcess(blocks.header(), builder);
  Rows rows(builder, blocks.header(), clocks);
  Block block;
  while (!context.cancelled() && blocks.Next(block)) {
    rows.AddBlock(block);
    if (context.progress) context.progress();
  }
  if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  rows.Finish();
  builder.info().event_count = rows.events();
  if (clocks.empty() && rows.events() > 0)
    builder.Count("no_wall_clock", Severity::kLoss, 1, kAbsent,
                  "the clocks could not be compared while recording: times do not line up with other recordings");
  DescribeEnd(blocks, rows, builder);
  return {};
}

void Complete(Trace& trace) {
  if (trace.info.origin_ns >= kUnixTimeFrom) trace.info.start_unix_ns = trace.info.origin_ns;
  FindSteps(trace);
  FillBlocksPerSm(trace);
}

}  // namespace

READER(cupti) = {.name = "cupti",
                 .help = "the native collector's stream of CUPTI records (gapless profile)",
                 .extensions = kExtensions,
                 .sniff = SniffHead,
                 .read = Read,
                 .complete = Complete};

}  // namespace gapless::internal::cupti_reader
