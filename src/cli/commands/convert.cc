// SPDX-License-Identifier: Apache-2.0
// The command `gapless convert`: writes recordings as Chrome trace events, to a file, to standard output, or to a
// folder with one file for each rank. --steps and --without restrict the output.
//
// The output is written block by block and appears under its name only when it is complete; an input is never replaced.
// Into one file go the primary recordings, on one clock, for viewing. Into a folder goes every recording, so that it
// can be analysed again.
//
//   wrote out.json: 151,980 events, 30.3 MB
//   open it in https://ui.perfetto.dev
#include <algorithm>
#include <filesystem>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/destination.h"
#include "cli/loading.h"
#include "cli/progress.h"
#include "convert/step_windows.h"
#include "convert/writer.h"

namespace gapless::internal::convert_command {
namespace documents {

struct ConvertedFile {
  std::string path{};
  int64_t bytes = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&ConvertedFile::path>("path", "", "file that was written"),
      Field<&ConvertedFile::bytes>("bytes", "bytes", "its size"),
  };
};

// The document; sizes of files are those on the disk, compressed.
struct Convert {
  std::string_view format{};
  size_t traces = 0;
  std::vector<std::pair<std::string, int64_t>> events{};
  int64_t uncompressed_bytes = 0;
  std::vector<ConvertedFile> files{};
  static constexpr FieldInfo kFields[] = {
      Field<&Convert::format>("format", "", "format that was written"),
      Field<&Convert::traces>("traces", "count", "recordings that were written"),
      Field<&Convert::events>("events", "count", "events of each kind"),
      Field<&Convert::uncompressed_bytes>("uncompressed_bytes", "bytes", "size without compression"),
      Field<&Convert::files>("files", "", "files that were written"),
  };
};

}  // namespace documents

namespace {

constexpr Choosable<bool WriteParts::*> kParts[] = {{"annotations", &WriteParts::annotations},
                                                    {"counters", &WriteParts::counters},
                                                    {"flows", &WriteParts::flows},
                                                    {"memory", &WriteParts::memory},
                                                    {"python", &WriteParts::python}};

Result<std::vector<int64_t>> ReadSteps(const OptionSpec&, std::string_view text) {
  return ParseNumbers(text, "step", "--steps 3,5-7");
}

struct ConvertArguments : ReadArguments {
  const Writer* format = nullptr;
  std::vector<int64_t> steps{};
  std::vector<bool WriteParts::*> without{};
  static constexpr OptionList kOptions{
      Text<&ReadArguments::output>("FILE",
                                   "Write to FILE, compressed for .gz and .zst; FOLDER/ gets a file for each rank")
          .Short('o'),
      Choice<&ConvertArguments::format, AnyEntry<AllWriters, &Writer::name>>("NAME", "Set the output's format"),
      Parsed<&ConvertArguments::steps, ReadSteps>("LIST",
                                                  "Write only events that begin during these steps, e.g. 3,5-7"),
      Choice<&ConvertArguments::without, OneOf<kParts>>("LIST", "Leave out these parts"),
      kRankOption,
      kReadingOptions,
  };
  static constexpr WordList kWords{kPathsWord};
};

// Everything is written unless --without names it.
WriteParts PartsFrom(const ConvertArguments& arguments) {
  WriteParts parts;
  for (const auto part : arguments.without) parts.*part = false;
  return parts;
}

// The form that was asked for; else the one whose files are called so; else Chrome's.
const Writer& WriterFor(const ConvertArguments& arguments) {
  if (arguments.format) return *arguments.format;
  for (const Writer* writer : AllWriters())
    for (const std::string_view extension : writer->extensions)
      if (arguments.output.ends_with(extension)) return *writer;
  return *FindWriter("chrome");
}

// Refuses to mix two documents on standard output, or to write a recording to a terminal. Checked before anything is
// read.
Result<void> CheckOutput(const ConvertArguments& arguments, const Session& session) {
  const std::string& output = arguments.output;
  if (!output.empty() && output != "-") return {};
  if (arguments.JsonToStdout())
    return Fail(ErrorCode::kUsage, "cannot write both --json and the recording to standard output", "",
                "write the recording to a file: -o trace.json.gz");
  if (session.terminal.is_tty)
    return Fail(ErrorCode::kUsage, "refusing to write a converted recording to a terminal", "",
                "write it to a file: -o trace.json.gz");
  return {};
}

// The files that were written, for the message and the document.
struct Outcome {
  const Writer& writer;
  Written written;
  std::vector<OutputDestination::File> files;
  size_t traces = 0;
  bool in_folder = false;
};

int64_t EventsOf(const Written& written) {
  int64_t events = 0;
  for (const auto& [kind, count] : written.events) events += count;
  return events;
}

// Says what was written and how to look at it, and that several ranks in one file cannot be analysed again.
std::string AsText(const Outcome& outcome) {
  int64_t bytes = 0;
  for (const auto& file : outcome.files) bytes += file.bytes;
  const std::string path = outcome.files.empty() ? "" : Printable(outcome.files[0].path);
  std::string out = StrCat("wrote ", outcome.files.size() == 1 ? path : StrCat(outcome.files.size(), " files"), ": ",
                           FormatCount(EventsOf(outcome.written)), " events, ", FormatBytes(bytes), "\n");
  if (outcome.writer.name == "chrome") out += "open it in https://ui.perfetto.dev\n";
  if (outcome.traces > 1 && !outcome.in_folder)
    out += StrCat(outcome.traces, " ranks in one file are to look at; with -o FOLDER/ each can be analysed again\n");
  return out;
}

std::string AsJson(const Outcome& outcome) {
  documents::Convert document{.format = outcome.writer.name, .traces = outcome.traces};
  for (const auto& [kind, count] : outcome.written.events) document.events.emplace_back(kind, count);
  document.uncompressed_bytes = outcome.written.bytes;
  for (const auto& file : outcome.files) document.files.push_back({file.path, file.bytes});
  return DocumentOf("convert", document);
}

// Returns the recordings to write: all of them, or those whose events are counted once.
std::vector<const RunTrace*> TracesToWrite(const Run& run, bool all) {
  if (!all) return run.primary();
  std::vector<const RunTrace*> traces;
  for (const RunTrace& trace : run.traces()) traces.push_back(&trace);
  return traces;
}

// Writes the recordings. The advice is computed only if annotations are wanted: it needs all rules.
Result<Outcome> Convert(const ConvertArguments& arguments, const Session& session, const RunAnalysis& analysis) {
  const Writer& writer = WriterFor(arguments);
  OutputDestination destination(arguments.output, InputFiles(analysis.loaded(), arguments.paths));
  WriteInput input{.run = analysis.run(),
                   .traces = TracesToWrite(analysis.run(), destination.is_folder()),
                   .parts = PartsFrom(arguments),
                   .cancel = session.cancel};
  if (!arguments.steps.empty()) {
    GAPLESS_ASSIGN(input.windows, WindowsOfSteps(input.traces, arguments.steps));
  }
  ProgressLine line;
  if (session.stderr_is_tty)
    input.progress = [&](int64_t done, int64_t total) {
      line.Update("writing", arguments.output, static_cast<uint64_t>(done), static_cast<uint64_t>(total),
                  [](uint64_t rows) { return StrCat(FormatCount(static_cast<int64_t>(rows)), " rows"); });
    };
  input.tables = &analysis.tables();
  input.advice = input.parts.annotations ? &analysis.advice() : nullptr;
  GAPLESS_ASSIGN(auto written, writer.write(input, destination));
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  GAPLESS_TRY(destination.Commit());
  return Outcome{writer, std::move(written), destination.files(), input.traces.size(), destination.is_folder()};
}

// When the recording goes to standard output, no message may follow it there.
Result<int> Execute(const ConvertArguments& arguments, Session& session) {
  GAPLESS_TRY(CheckOutput(arguments, session));
  GAPLESS_ASSIGN(const auto analysis, AnalysisFor(arguments, session, arguments.paths));
  if (analysis->tables().of_summaries())
    return Fail(ErrorCode::kInput, "a summary holds no events to write", arguments.paths.front(),
                "convert the recording that it was made of");
  WarnOfLosses(analysis->loaded());
  GAPLESS_ASSIGN(const auto outcome, Convert(arguments, session, *analysis));
  const std::string& output = arguments.output;
  // The recording is on standard output, so the document goes to its file only.
  if (output.empty() || output == "-") {
    if (arguments.json) GAPLESS_TRY(WriteFile(*arguments.json, AsJson(outcome)));
    return 0;
  }
  return PrintTextOrJson(
      arguments, [&] { return AsText(outcome); }, [&] { return AsJson(outcome); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Convert>::kInfo};
constexpr Example kExamples[] = {
    {"gapless convert trace.json.gz -o annotated.json.gz", "The recording with steps, idle gaps and bottlenecks in it"},
    {"gapless convert trace.json.gz -o step7.json --steps 7 --without python", "One step, small enough to send"},
    {"gapless convert run/ -o annotated/", "A file for each rank of a folder"},
    {"gapless convert run/ -o run.json.gz", "All ranks on one clock in one file, to look at"},
};

}  // namespace

COMMAND(convert) = {
    .name = "convert",
    .place = {groups::kMore, 2},
    .help = "Write an annotated recording in a format that other tools open",
    .about =
        "Writes recordings as Chrome trace events, which ui.perfetto.dev and chrome://tracing open, with the "
        "findings of gapless as tracks beside the recorded ones: steps with their time breakdowns, idle gaps "
        "by cause, bottlenecks with the rows that are their evidence, and counters of device "
        "utilization.\n\nA file of one rank can be read again: its analysis gives the same numbers, without "
        "the added tracks. Several ranks in one file share one clock and are for viewing only; a folder gets "
        "one file for each rank and can be analysed.\n\nA file appears only when it is complete, and never "
        "replaces an input.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::convert_command
