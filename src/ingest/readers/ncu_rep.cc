// SPDX-License-Identifier: Apache-2.0
// Nsight Compute: its own report. docs/formats/ncu_rep.md describes the layout, which is known from looking at files,
// and what is read: the rows are those of ncu's table (ncu_csv), metrics and rules together.
#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_rep/container.h"
#include "ingest/readers/ncu_rep/results.h"

namespace gapless::internal::ncu_rep_reader {
namespace {

using ncu_rep::Container;

constexpr std::string_view kExtensions[] = {".ncu-rep", ".nsight-cuprof-report"};

Sniff SniffHead(std::string_view head) { return head.starts_with(ncu_rep::kMagic) ? Sniff::kYes : Sniff::kNo; }

// Parts that were passed over, or not found.
struct Left {
  int64_t other = 0, blocks = 0;
};

// Reads the payload of a block. False: a message in it is not all there, so that those behind it are lost.
bool TakePayload(Container& report, const ncu_rep::Block& block, ncu_rep::Code& code, ncu_rep::Results& results,
                 Left& left) {
  ncu_rep::Piece piece;
  for (uint64_t i = 0; i < block.sources; ++i) {
    if (!report.Skip(&piece)) return false;
    code.Add(piece);
  }
  std::string message;
  for (uint64_t i = 0; i < block.results; ++i) {
    if (!report.Read(message)) return false;
    results.Take(message);
  }
  left.other += static_cast<int64_t>(block.other);
  return true;
}

void CountLeft(const Left& left, const ncu_rep::Code& code, TraceBuilder& builder) {
  builder.Count(
      "code", Severity::kInfo, code.pieces(), kAbsent,
      "pieces of machine code are in the report; of those that were sampled the lines are read, never the code");
  builder.Count("large_code", Severity::kLoss, code.unread(), kAbsent,
                "pieces of machine code are too large or damaged; samples in them have no lines");
  builder.Count("other_results", Severity::kLoss, left.other, kAbsent,
                "results of ranges, command lists or graphs were left out: only those of kernels are read");
  builder.Count("damaged_blocks", Severity::kLoss, left.blocks, kAbsent,
                "blocks of the report are damaged; the launches in them are missing");
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const auto report, Container::Open(source));
  ncu_rep::Code code(*report);
  ncu_rep::Results results(builder, code);
  ncu_rep::Block block;
  Left left;
  Container::Found found = Container::Found::kBlock;
  while ((found = report->Next(block)) == Container::Found::kBlock) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    results.Begin(block);
    left.blocks += !TakePayload(*report, block, code, results, left);
    if (context.progress) context.progress();
  }
  const bool cut = found == Container::Found::kCutOff, damaged = found == Container::Found::kDamaged;
  if (results.launches() == 0)
    return ncu_rep::Refuse(source.path(), cut                          ? "it was cut off before the first kernel"
                                          : damaged || left.blocks > 0 ? "it is damaged before the first kernel"
                                          : left.other > 0 ? "it has results of ranges or graphs, and none of a kernel"
                                                           : "no kernel was measured in it");
  const auto at = static_cast<int64_t>(block.offset);
  builder.Count("truncated_input", Severity::kError, cut, at,
                "the report was cut off; the launches before are all there");
  builder.Count("damaged_input", Severity::kError, damaged, at, "reading stopped at a damaged block");
  CountLeft(left, code, builder);
  results.Finish();
  builder.info().format = "ncu_csv";  // the rows mean what those of the table mean
  return {};
}

}  // namespace

READER(ncu_rep) = {.name = "ncu_rep",
                   .help = "Nsight Compute, its own report: ncu -o",
                   .extensions = kExtensions,
                   .sniff = SniffHead,
                   .read = Read,
                   .complete = nullptr};

}  // namespace gapless::internal::ncu_rep_reader
