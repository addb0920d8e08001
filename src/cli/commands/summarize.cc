// SPDX-License-Identifier: Apache-2.0
// The command `gapless summarize`: turns recordings into summaries, side by side, and names those that cannot be read.
//
//   wrote summaries/: 8 summaries of 7.4 MB, 212 kB (28 kB the largest)
//   1 recording is lost: rank5.json: the file is empty
#include <sys/prctl.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/described_json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/elsewhere.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cluster/condense.h"
#include "cluster/summary_set.h"
#include "ingest/input_paths.h"
#include "ingest/load.h"
#include "ingest/spool.h"
#include "trace/summary_file.h"

namespace gapless::internal::summarize_command {
namespace {

namespace fs = std::filesystem;

struct SummarizeArguments : ElsewhereArguments {
  std::optional<int64_t> jobs{};
  std::string name{};
  bool units = false, ends_with_parent = false;
  static constexpr OptionList kOptions{
      Text<&ReadArguments::output>(
          "DIR", "Write a summary of each recording into DIR, a folder or URL; - is standard output, for one")
          .Short('o'),
      Number<&SummarizeArguments::jobs>("N", "Read N recordings at a time (processors)", 1, 1024).Short('j'),
      Text<&SummarizeArguments::name>("NAME",
                                      "Call the recording NAME, and read its rank there, where it comes from a pipe"),
      kOnOption,
      kRankOption,
      kReadingOptions,
      Flag<&SummarizeArguments::units>(""),
      Flag<&SummarizeArguments::ends_with_parent>(""),
  };
  static constexpr WordList kWords{kPathsWord};
};

// Recordings that are analysed together: those of one run folder; else one file.
using Unit = std::vector<std::string>;

Result<std::vector<Unit>> UnitsOf(const std::vector<std::string>& paths) {
  std::vector<Unit> units;
  for (const std::string& path : paths) {
    std::error_code error;
    if (IsRunFolder(path) || !fs::is_directory(path, error)) {
      units.push_back({path});
      continue;
    }
    GAPLESS_ASSIGN(const auto inputs, InputPathsOf(std::span(&path, 1)));
    for (const InputPath& input : inputs)
      units.push_back({input.given_rank == kAbsent ? input.path : StrCat(input.given_rank, "=", input.path)});
  }
  return units;
}

// The name that the recording has by --name.
CalledAs ShownNames(const SummarizeArguments& arguments) {
  if (arguments.name.empty()) return {};
  const std::string& path = arguments.paths.front();
  return {IsStandardInput(path) ? std::string(kStandardInput) : path, arguments.name};
}

// Writes summaries, from several threads.
class Writer {
 public:
  Writer(const SummarizeArguments& arguments, Session& session) : arguments_(arguments), session_(session) {}

  void Lose(Error error) {
    const CalledAs shown = ShownNames(arguments_);
    if (!shown.to.empty() && error.place.starts_with(shown.from)) error.place.replace(0, shown.from.size(), shown.to);
    const std::lock_guard lock(mutex_);
    done_.lost.push_back({error.place, error.message, error.hint});
    lost_.push_back(std::move(error));
  }

  // The error where nothing could be read: of the one recording, or of the first.
  Error WhyNothing() const {
    if (lost_.size() == 1) return lost_.front();
    return {ErrorCode::kInput, "no recording could be read", lost_.empty() ? "" : lost_.front().place, ""};
  }

  Result<void> Write(Tables& tables, const RunTrace& of) {
    const std::string bytes = CondenseAny(tables, of);
    const std::string path = arguments_.output == "-" ? "-" : PathFor(of);
    GAPLESS_TRY(WriteFile(path, bytes));
    const std::lock_guard lock(mutex_);
    done_.summaries.push_back({path, of.trace->info.path, Rank(of), static_cast<int64_t>(bytes.size())});
    return {};
  }

  // The document, in the order of names.
  documents::Summarize Done() {
    done_.folder = arguments_.output;
    std::ranges::sort(done_.summaries, {}, &documents::WrittenSummary::path);
    std::ranges::sort(done_.lost, {}, &documents::LostRecording::path);
    return std::move(done_);
  }

 private:
  static std::optional<int64_t> Rank(const RunTrace& of) {
    return of.rank() == kAbsent ? std::nullopt : std::optional(of.rank());
  }

  // A name that no other summary of this call has.
  std::string PathFor(const RunTrace& of) {
    const std::string name = SummaryFileName(of.trace->info.rank, of.trace->info.path);
    const std::lock_guard lock(mutex_);
    const int64_t before = used_[name]++;
    const std::string file = StrCat(name, before == 0 ? "" : StrCat("-", before + 1), kSummaryExtension);
    return (fs::path(arguments_.output) / file).string();
  }

  const SummarizeArguments& arguments_;
  Session& session_;
  std::mutex mutex_{};
  documents::Summarize done_{};
  std::vector<Error> lost_{};
  std::map<std::string, int64_t> used_{};
};

// Reads the recordings of a unit and writes their summaries. Recordings that cannot be read are named, not fatal.
Result<void> SummarizeUnit(const SummarizeArguments& arguments, const Unit& unit, size_t threads, Session& session,
                           Writer& writer) {
  OpenOptions options{.cancel_flag = session.cancel};
  options.use_cache = !arguments.no_cache, options.ranks = arguments.rank, options.threads = threads;
  options.memory_bytes = static_cast<uint64_t>(arguments.memory.value_or(0));
  auto loaded = LoadRun(unit, options, ShownNames(arguments));
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  if (!loaded) return writer.Lose(loaded.error()), Result<void>();
  for (const Error& failure : loaded->failures) writer.Lose(failure);
  GAPLESS_TRY(ChangeSources(arguments, session, *loaded));
  Tables tables(loaded->run, threads);
  for (const RunTrace* of : WorthSummaries(loaded->run)) GAPLESS_TRY(writer.Write(tables, *of));
  return {};
}

Result<void> SummarizeAll(const SummarizeArguments& arguments, const std::vector<Unit>& units, Session& session,
                          Writer& writer) {
  const size_t threads = DefaultThreads();
  const size_t beside =
      std::min<size_t>(units.size(), static_cast<size_t>(arguments.jobs.value_or(static_cast<int64_t>(threads))));
  ProgressLine line;
  std::mutex mutex;
  std::optional<Error> failed;
  size_t done = 0;
  ThreadPool(beside).ParallelFor(units.size(), [&](size_t i) {
    if (session.cancel->load()) return;
    auto summarized = SummarizeUnit(arguments, units[i], std::max<size_t>(1, threads / beside), session, writer);
    const std::lock_guard lock(mutex);
    if (!summarized && !failed) failed = summarized.error();
    ++done;
    if (session.stderr_is_tty)
      line.Update("summarizing", units[i].front(), done, units.size(),
                  [](uint64_t count) { return FormatCount(static_cast<int64_t>(count)); });
  });
  if (failed) return Unexpected{*failed};
  if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
  return {};
}

std::string AsText(const documents::Summarize& done) {
  int64_t bytes = 0, largest = 0;
  for (const documents::WrittenSummary& summary : done.summaries)
    bytes += summary.bytes, largest = std::max(largest, summary.bytes);
  return StrCat("wrote ", Printable(done.folder), ": ",
                FormatCounted(static_cast<int64_t>(done.summaries.size()), "summary", "summaries"), ", ",
                FormatBytes(bytes), done.summaries.size() > 1 ? StrCat(", the largest ", FormatBytes(largest)) : "",
                "\n");
}

// The recordings, each ended by a zero byte, for the Python package: it finds what this program finds.
Result<int> PrintUnits(const std::vector<Unit>& units) {
  std::string text;
  for (const Unit& unit : units) text += StrCat(unit.front(), std::string_view("\0", 1));
  GAPLESS_TRY(WriteFile("", text));
  return 0;
}

Result<int> PrintDone(const SummarizeArguments& arguments, const documents::Summarize& done) {
  return PrintTextOrJson(
      arguments, [&] { return AsText(done); }, [&] { return DocumentOf("summarize", done); });
}

void WarnOfLost(const documents::Summarize& done) {
  for (const documents::LostRecording& lost : done.lost) log::Warning(StrCat(lost.path, ": ", lost.reason));
}

Result<int> ExecuteElsewhere(const SummarizeArguments& arguments) {
  if (arguments.redact)
    return Fail(ErrorCode::kUsage, "names that hide others must be the same in all summaries", "--redact",
                "gapless analyze SUMMARIES --redact");
  ElsewhereRequest request = RequestFrom(arguments);
  request.summaries = arguments.output, request.here = false;
  GAPLESS_ASSIGN(const auto done, SummarizeElsewhere(request));
  WarnOfLost(done);
  return PrintDone(arguments, done);
}

// Makes the folder, if it is one.
Result<void> CheckPlace(const SummarizeArguments& arguments, const std::vector<Unit>& units, const Session& session) {
  if (arguments.output == "-") {
    if (units.size() > 1 || session.terminal.is_tty)
      return Fail(ErrorCode::kUsage, "standard output takes one summary, and no terminal", "", "-o summaries/");
    return {};
  }
  std::error_code error;
  fs::create_directories(arguments.output, error);
  if (error)
    return Fail(ErrorCode::kEnvironment, StrCat("cannot make the folder: ", error.message()), arguments.output);
  return {};
}

Result<int> Execute(const SummarizeArguments& arguments, Session& session) {
  if (arguments.output.empty() && !arguments.units)
    return Fail(ErrorCode::kUsage, "no folder to write to", "", "gapless summarize run/ -o summaries/");
  if (!arguments.name.empty() && arguments.paths.size() > 1)
    return Fail(ErrorCode::kUsage, "one recording has one name", "--name",
                "gapless summarize - --name rank3.json -o -");
  if (IsElsewhere(arguments) || IsUrl(arguments.output)) return ExecuteElsewhere(arguments);
  // The worker of an engine may be killed: nobody would wait for this process any longer.
  if (arguments.ends_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  GAPLESS_ASSIGN(const auto units, UnitsOf(arguments.paths));
  if (arguments.units) return PrintUnits(units);
  GAPLESS_TRY(CheckPlace(arguments, units, session));
  Writer writer(arguments, session);
  GAPLESS_TRY(SummarizeAll(arguments, units, session, writer));
  const documents::Summarize done = writer.Done();
  if (done.summaries.empty()) return Unexpected{writer.WhyNothing()};
  WarnOfLost(done);
  if (arguments.output == "-") return 0;
  return PrintDone(arguments, done);
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Summarize>::kInfo};
constexpr Example kExamples[] = {
    {"gapless summarize run/ -o summaries/", "A summary of each rank of a run"},
    {"gapless analyze summaries/", "The job, from its summaries"},
    {"zcat rank3.json.gz | gapless summarize - --name rank3.json -o - > 3.gapsum", "One rank, through a pipe"},
    {"gapless summarize s3://runs/42/ --on ray -o s3://runs/42/summaries/", "A task for each rank, on a Ray cluster"},
};

}  // namespace

COMMAND(summarize) = {
    .name = "summarize",
    .place = {groups::kJobs, 1},
    .help = "Turn recordings into small summaries that stand for them",
    .about =
        "Writes a summary of each recording, of at most 256 KiB, on the machine where the recording lies. Every "
        "command that reads recordings takes summaries, of any number of ranks, and finds in them what it finds in the "
        "recordings together. Only what needs single events is missing: replays for `predict`, and timelines. "
        "Recordings that cannot be read are named, and the others are summarised.\n\nURLs (s3://, gs://, az://, ...) "
        "and "
        "--on need the Python package: each recording is a task of its own, and a summary of the same recording that "
        "is "
        "there already is not made again.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::summarize_command
