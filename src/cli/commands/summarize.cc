// SPDX-License-Identifier: Apache-2.0
// The command `gapless summarize`: turns recordings into summaries, side by side, and names those that cannot be read.
//
//   wrote summaries/: 8 summaries of 7.4 MB, 212 kB (28 kB the largest)
//   1 recording is lost: rank5.json: the file is empty
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/described_json.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/loading.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cluster/condense.h"
#include "cluster/summary_set.h"
#include "ingest/input_paths.h"
#include "ingest/load.h"
#include "trace/summary_file.h"

namespace gapless::internal::summarize_command {
namespace documents {

struct WrittenSummary {
  std::string path{}, recording{};
  std::optional<int64_t> rank{};
  int64_t bytes = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&WrittenSummary::path>("path", "", "file that was written"),
      Field<&WrittenSummary::recording>("recording", "", "recording it stands for"),
      Field<&WrittenSummary::rank>("rank", "", "rank; absent: none is known of the recording alone"),
      Field<&WrittenSummary::bytes>("bytes", "bytes", "its size"),
  };
};

struct LostRecording {
  std::string path{}, reason{};
  static constexpr FieldInfo kFields[] = {
      Field<&LostRecording::path>("path", "", "recording that could not be read"),
      Field<&LostRecording::reason>("reason", "", "what is wrong with it"),
  };
};

struct Summarize {
  std::string folder{};
  std::vector<WrittenSummary> summaries{};
  std::vector<LostRecording> lost{};
  static constexpr FieldInfo kFields[] = {
      Field<&Summarize::folder>("folder", "", "folder that holds them"),
      Field<&Summarize::summaries>("summaries", "", "summaries that were written"),
      Field<&Summarize::lost>("lost", "", "recordings without one"),
  };
};

}  // namespace documents

namespace {

namespace fs = std::filesystem;

struct SummarizeArguments : ReadArguments {
  std::optional<int64_t> jobs{};
  static constexpr OptionList kOptions{
      Text<&ReadArguments::output>("DIR", "Write a summary of each recording into DIR; - is standard output, for one")
          .Short('o'),
      Number<&SummarizeArguments::jobs>("N", "Read N recordings at a time (processors)", 1, 1024).Short('j'),
      kRankOption,
      kReadingOptions,
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

// Writes summaries, from several threads.
class Writer {
 public:
  Writer(const SummarizeArguments& arguments, Session& session) : arguments_(arguments), session_(session) {}

  void Lose(const Error& error) {
    const std::lock_guard lock(mutex_);
    done_.lost.push_back({error.place, error.message});
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
    const std::string name = SummaryName(of.trace->info.rank, of.trace->info.path);
    const std::lock_guard lock(mutex_);
    const int64_t before = used_[name]++;
    const std::string file = StrCat(name, before == 0 ? "" : StrCat("-", before + 1), kSummaryExtension);
    return (fs::path(arguments_.output) / file).string();
  }

  const SummarizeArguments& arguments_;
  Session& session_;
  std::mutex mutex_{};
  documents::Summarize done_{};
  std::map<std::string, int64_t> used_{};
};

// Reads the recordings of a unit and writes their summaries. Recordings that cannot be read are named, not fatal.
Result<void> SummarizeUnit(const SummarizeArguments& arguments, const Unit& unit, size_t threads, Session& session,
                           Writer& writer) {
  OpenOptions options{.cancel_flag = session.cancel};
  options.use_cache = !arguments.no_cache, options.ranks = arguments.rank, options.threads = threads;
  options.memory_bytes = static_cast<uint64_t>(arguments.memory.value_or(0));
  auto loaded = LoadRun(unit, options);
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

Result<int> Execute(const SummarizeArguments& arguments, Session& session) {
  if (arguments.output.empty())
    return Fail(ErrorCode::kUsage, "no folder to write to", "", "gapless summarize run/ -o summaries/");
  GAPLESS_ASSIGN(const auto units, UnitsOf(arguments.paths));
  if (arguments.output == "-") {
    if (units.size() > 1 || session.terminal.is_tty)
      return Fail(ErrorCode::kUsage, "standard output takes one summary, and no terminal", "", "-o summaries/");
  } else {
    std::error_code error;
    fs::create_directories(arguments.output, error);
    if (error)
      return Fail(ErrorCode::kEnvironment, StrCat("cannot make the folder: ", error.message()), arguments.output);
  }
  Writer writer(arguments, session);
  GAPLESS_TRY(SummarizeAll(arguments, units, session, writer));
  const documents::Summarize done = writer.Done();
  for (const documents::LostRecording& lost : done.lost) log::Warning(StrCat(lost.path, ": ", lost.reason));
  if (done.summaries.empty())
    return Fail(ErrorCode::kInput, "no recording could be read", done.lost.empty() ? "" : done.lost.front().path);
  if (arguments.output == "-") return 0;
  return PrintTextOrJson(
      arguments, [&] { return AsText(done); }, [&] { return DocumentOf("summarize", done); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Summarize>::kInfo};
constexpr Example kExamples[] = {
    {"gapless summarize run/ -o summaries/", "A summary of each rank of a run"},
    {"gapless analyze summaries/", "The job, from its summaries"},
    {"cat rank3.json.gz | gapless summarize 3=- -o - > rank3.gapsum", "One rank, through a pipe"},
};

}  // namespace

COMMAND(summarize) = {
    .name = "summarize",
    .help = "Turn recordings into small summaries that stand for them",
    .about =
        "Writes a summary of each recording, of at most 256 KiB, on the machine where the recording lies. Every "
        "command that reads recordings takes summaries, of any number of ranks, and finds in them what it finds in the "
        "recordings together. Only what needs single events is missing: replays for `predict`, and timelines. "
        "Recordings that cannot be read are named, and the others are summarised.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::summarize_command
