// SPDX-License-Identifier: Apache-2.0
// Nsight Compute: what `ncu --csv` prints with --page raw (a column per metric, units in the second row) or --page
// details (a row per metric or rule), also with the `==PROF==` lines of a live run around it.
//
// Every number becomes a row of kernel_metric in its base unit, whatever unit it was printed in, under the metric's own
// name. The details page has names for people instead: those that the verdicts need are given back their own, the
// others stand as "section: name". --metrics and --print-summary have tables of their own. A rule is the metric
// "rule:<name>" whose text is what it says and whose value is the speedup it estimates.
#include "base/strings.h"
#include "ingest/reader.h"
#include "ingest/readers/ncu_csv/table.h"
#include "ingest/readers/ncu_csv/text.h"

namespace gapless::internal::ncu_csv_reader {
namespace {

constexpr std::string_view kExtensions[] = {".ncu.csv"};
constexpr size_t kMaxBytes = size_t{1} << 30;

// In a file in which the program prints much, the table comes late: ncu's own lines then show that it is one.
Sniff SniffHead(std::string_view head) {
  const std::string text = ncu::ToUtf8(std::string(head));
  if (ncu::FindTable(text) != std::string::npos) return Sniff::kYes;
  return ncu::HasOwnLine(text) ? Sniff::kMaybe : Sniff::kNo;
}

// Why there is no table in a file that ncu wrote.
Error NoTable(const std::string& text, const std::string& path) {
  const std::string error = ncu::FirstError(text);
  const std::string message = error.empty() ? "there is no table of ncu in this file" : StrCat("ncu failed: ", error);
  const bool denied = error.find("ERR_NVGPUCTRPERM") != std::string::npos;
  return {ErrorCode::kInput, message, path,
          denied
              ? "allow the GPU's performance counters: load the driver with NVreg_RestrictProfilingToAdminUsers=0, or "
                "run ncu as root"
              : "ncu --import REPORT.ncu-rep --csv --page raw"};
}

// Reads the whole file into memory, up to 1 GiB, since the style of numbers is only known once all values were
// seen. Damage does not discard the rows before it.
Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  std::string text;
  constexpr size_t kPiece = size_t{1} << 20;
  const Error* damage = nullptr;
  Error kept;
  for (bool more = true; more && text.size() < kMaxBytes;) {
    if (context.cancelled()) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
    const size_t before = text.size();
    text.resize(before + kPiece);
    auto got = stream->Read(text.data() + before, kPiece);
    if (!got) kept = got.error(), damage = &kept;
    more = got && *got > 0;
    text.resize(before + (got ? *got : 0));
  }
  text = ncu::ToUtf8(std::move(text));
  const size_t at = ncu::FindTable(text);
  if (at == std::string::npos) return Unexpected{NoTable(text, source.path())};
  if (damage != nullptr)
    builder.Count("damaged_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  StrCat("reading stopped: ", damage->message));
  if (text.size() >= kMaxBytes)
    builder.Count("overlong_input", Severity::kError, 1, static_cast<int64_t>(text.size()),
                  "reading stopped after a gigabyte");
  return ncu::MetricTable(std::string_view(text).substr(at), builder).Read(source.path());
}

}  // namespace

READER(ncu_csv) = {.name = "ncu_csv",
                   .help = "Metrics of kernels by Nsight Compute: ncu --csv, any of its tables",
                   .extensions = kExtensions,
                   .sniff = SniffHead,
                   .read = Read,
                   .complete = nullptr};

}  // namespace gapless::internal::ncu_csv_reader
