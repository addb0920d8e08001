// SPDX-License-Identifier: Apache-2.0
// Reads large inputs with all threads one after the other and small inputs in parallel, then joins their traces in a
// Run.
//
// The reader of an input is found by its content, never by its name. Each reader judges the first 64 KiB,
// decompressed: the first that says yes reads the input, else the first that says maybe.
//
// An input that cannot be read does not stop the others: its error is reported beside the run. Only when no input
// could be read does the first error become the result.
#include "ingest/load.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/strings.h"
#include "base/timings.h"
#include "ingest/cache.h"
#include "ingest/execution_traces.h"
#include "ingest/input_paths.h"
#include "ingest/reader.h"
#include "ingest/spool.h"
#include "ingest/trace_memory.h"
#include "ingest/unknown_format.h"
#include "trace/identity.h"
#include "trace/summary.h"
#include "trace/summary_places.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
// Decompressed bytes at the start of an input that readers see to recognise their format.
constexpr size_t kSniffBytes = size_t{64} * 1024;

// Returns the reader for an input that starts with `head`: the first that says yes, else the first that says
// maybe, else null. Readers are asked in the order of their names.
const Reader* FindReader(std::string_view head) {
  const Reader* maybe = nullptr;
  for (const Reader* reader : AllReaders()) {
    const Sniff verdict = reader->sniff(head);
    if (verdict == Sniff::kYes) return reader;
    if (verdict == Sniff::kMaybe && maybe == nullptr) maybe = reader;
  }
  return maybe;
}

// Logs are text, and longer than this only where nothing is to be found.
constexpr uint64_t kLongestLog = uint64_t{256} << 20;

// Returns the reader of what a log ends with; null: none. Reads a log through, once nothing else knows it.
const Reader* ReaderOfEnd(Source& source, std::string_view head) {
  if (head.size() < kSniffBytes || head.find('\0') != head.npos) return nullptr;
  const auto stream = source.Open();
  if (!stream) return nullptr;
  std::string end, block(kSniffBytes, '\0');
  for (uint64_t total = 0; total < kLongestLog;) {
    const auto got = (*stream)->Read(block.data(), block.size());
    if (!got || *got == 0) break;
    total += *got;
    end.append(block, 0, *got);
    if (end.size() > kSniffBytes) end.erase(0, end.size() - kSniffBytes);
  }
  for (const Reader* reader : AllReaders())
    if (reader->ends_logs && reader->sniff(end) == Sniff::kYes) return reader;
  return nullptr;
}

// Returns true if files of the format are read while they are written; such traces are not cached.
bool Grows(std::string_view format) {
  return std::any_of(AllReaders().begin(), AllReaders().end(),
                     [&](const Reader* reader) { return reader->name == format && reader->grows; });
}

// The content of one input.
struct Loaded {
  std::vector<std::shared_ptr<const Trace>> traces{};
  std::vector<Error> failures{};
  int filtered = 0;  // recordings of other ranks than wanted
};

// Loads large inputs one after the other, each on all threads, and then small ones side by side, a thread each: what it
// holds besides the traces does not grow with the number of inputs.
class Loader {
 public:
  Loader(const OpenOptions& options, const std::vector<InputPath>& inputs, const CalledAs& shown)
      : options_(options),
        shown_(shown),
        stop_(options),
        inputs_(inputs),
        memory_(options.memory_bytes),
        loaded_(inputs.size()),
        taken_(inputs.size()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::error_code error;
      const auto size = inputs[i].piped ? inputs[i].piped->stored_bytes() : fs::file_size(inputs[i].path, error);
      if (!error) total_ += size;
      (!error && size < kSmallBytes ? small_ : large_).push_back(i);
    }
  }

  // Returns what each input held, in their order; to be called once. A large input gets all threads; small ones
  // share them, at least one thread each.
  std::vector<Loaded> Run() {
    const size_t threads = options_.threads == 0 ? DefaultThreads() : options_.threads;
    const size_t beside = std::clamp<size_t>(small_.size(), 1, threads);
    ThreadPool pool(beside == 1 || !large_.empty() ? threads : 1);
    for (const size_t i : large_) Load(i, pool);
    if (beside == 1)
      for (const size_t i : small_) Load(i, pool);
    else
      ThreadPool(beside).ParallelFor(small_.size(), [&](size_t i) {
        ThreadPool own(threads / beside);
        Load(small_[i], own);
      });
    return std::move(loaded_);
  }

  bool interrupted() const { return stop_.is_set(); }

 private:
  static Result<std::shared_ptr<Source>> Opened(const InputPath& input) {
    if (input.piped) return input.piped;
    GAPLESS_ASSIGN(auto source, OpenFile(input.path));
    return std::shared_ptr<Source>(std::move(source));
  }

  // Reads one input into its own slot of `loaded_`; different indexes may be loaded by different threads at once.
  // An archive is never cached as a whole, since each of its members is a recording.
  void Load(size_t index, ThreadPool& pool) {
    if (interrupted()) return;
    const InputPath& input = inputs_[index];
    Loaded& loaded = loaded_[index];
    const TimedPart timed("reading", "");
    if (!input.piped && LoadSummaries(input, loaded, pool)) return void(++done_);
    auto opened = Opened(input);
    if (!opened) return loaded.failures.push_back(opened.error());
    Source& source = **opened;
    if (IsTar(source)) return LoadArchive(index, pool, source);
    const std::string key = options_.use_cache && !input.piped ? KeyOf(input) : "";
    if (auto cached = TakeFromCache(key)) {
      Keep(std::move(cached), input, loaded);
    } else {
      auto trace = ReadTrace(source, Context(index, pool, &source));
      if (trace) {
        auto shared = std::make_shared<Trace>(std::move(*trace));
        if (!key.empty() && !shared->summary && !Grows(shared->info.format)) PutIntoCache(key, *shared);
        Keep(std::move(shared), input, loaded);
      } else {
        loaded.failures.push_back(trace.error());
      }
    }
    taken_[index] = source.stored_bytes();
    ++done_;
  }

  // Nothing is cached of a recording with an execution trace, which is no part of the key.
  static std::string KeyOf(const InputPath& input) { return input.execution_trace.empty() ? CacheKey(input.path) : ""; }

  // Reads the summaries of a file, each where it lies; false if it holds none.
  bool LoadSummaries(const InputPath& input, Loaded& loaded, ThreadPool& pool) {
    SummaryPlaces found = SummariesIn(input.path);
    if (found.places.empty() && found.lost.empty()) return false;
    std::ranges::move(found.lost, std::back_inserter(loaded.failures));
    std::vector<std::optional<Result<Trace>>> traces(found.places.size());
    pool.ParallelFor(traces.size(), [&](size_t i) {
      if (!interrupted()) traces[i].emplace(ReadSummaryAt(found.places[i]));
    });
    for (auto& trace : traces) {
      if (!trace) continue;
      if (*trace)
        Keep(std::make_shared<Trace>(**std::move(trace)), input, loaded);
      else
        loaded.failures.push_back(trace->error());
    }
    return true;
  }

  // Returns the context that a reader gets. Progress sums the bytes of all inputs, since small ones are read side
  // by side.
  ReadContext Context(size_t index, ThreadPool& pool, const Source* source) {
    ReadContext context{.pool = pool, .cancel = stop_.get(), .progress = nullptr};
    if (source != nullptr) context.execution_trace = inputs_[index].execution_trace;
    if (options_.progress && source != nullptr)
      context.progress = [this, index, source] {
        taken_[index] = source->bytes_taken();
        uint64_t taken = 0;
        for (const std::atomic<uint64_t>& of_input : taken_) taken += of_input;
        options_.progress({source->path(), taken, total_, done_, inputs_.size()});
      };
    return context;
  }

  // Reads the members of a tar archive in their order, without cache. A member that cannot be read is reported
  // like a file.
  void LoadArchive(size_t index, ThreadPool& pool, Source& archive) {
    const InputPath& input = inputs_[index];
    Loaded& loaded = loaded_[index];
    auto walked = ForEachTarMember(archive, [&](Source& member) {
      if (interrupted()) return;
      auto trace = ReadTrace(member, Context(index, pool, nullptr));
      if (trace)
        Keep(std::make_shared<Trace>(std::move(*trace)), {member.path(), kAbsent, true, "", input.piped}, loaded);
      else
        loaded.failures.push_back(trace.error());
    });
    if (!walked)
      loaded.failures.push_back(walked.error());
    else if (loaded.traces.empty() && loaded.failures.empty())
      loaded.failures.push_back({ErrorCode::kInput, "the archive holds no recording", input.path, ""});
    ++done_;
  }

  // Sets the trace's path and rank, and keeps it if its rank is wanted or may turn out to be (trace/run.h). The path is
  // set after the cache was asked: a cached trace may have been read under another spelling of the path.
  void Keep(std::shared_ptr<Trace> trace, const InputPath& input, Loaded& loaded) {
    TraceInfo& info = trace->info;
    if (!trace->summary) info.path = input.path;
    if (!trace->summary && !shown_.to.empty() && info.path.starts_with(shown_.from))
      info.path.replace(0, shown_.from.size(), shown_.to);
    info.piped = input.piped != nullptr;
    if (input.given_rank != kAbsent)
      info.rank = input.given_rank;
    else if (info.rank == kAbsent)
      info.rank = RankInName(info.path);
    const auto& wanted = options_.ranks;
    if (!wanted.empty() && info.rank != kAbsent && std::ranges::count(wanted, info.rank) == 0)
      return void(++loaded.filtered);
    if (trace->summary)
      loaded.traces.push_back(std::move(trace));  // small, and no columns to read from a file
    else
      loaded.traces.push_back(memory_.Settle(std::move(trace)));
  }

  static constexpr uint64_t kSmallBytes = uint64_t{48} << 20;

  const OpenOptions& options_;
  const CalledAs& shown_;
  const StopFlag stop_;
  const std::vector<InputPath>& inputs_;
  TraceMemory memory_;
  std::vector<size_t> large_, small_;         // into inputs_
  std::vector<Loaded> loaded_;                // by input
  std::vector<std::atomic<uint64_t>> taken_;  // by input: bytes
  std::atomic<size_t> done_ = 0;              // inputs
  uint64_t total_ = 0;
};

// Returns the recordings one level below each folder whose own files are no recordings, such as a package.json. Those
// files stay failures, which are reported.
std::vector<InputPath> DeeperInputs(const std::vector<InputPath>& inputs, const std::vector<Loaded>& loaded) {
  std::map<std::string, std::pair<int64_t, bool>> folders;  // path -> given rank, and if a recording was found
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].folder.empty()) continue;
    auto& [rank, has_recording] = folders[inputs[i].folder];
    rank = inputs[i].given_rank;
    has_recording = has_recording || !loaded[i].traces.empty() || loaded[i].filtered > 0;
  }
  std::vector<InputPath> deeper;
  for (const auto& [folder, found] : folders)
    if (!found.second) std::ranges::move(InputPathsBelow(folder, found.first), std::back_inserter(deeper));
  return deeper;
}

// Takes what comes through pipes, one after the other, before anything is read: nobody knows how large it is.
Result<void> TakePiped(std::vector<InputPath>& inputs, const OpenOptions& options) {
  const StopFlag stop(options);
  if (std::ranges::count_if(inputs, [](const InputPath& input) { return IsStandardInput(input.path); }) > 1)
    return Fail(ErrorCode::kUsage, "standard input can be read only once", "", "give a pipe each: <(command)");
  for (size_t i = 0; i < inputs.size(); ++i) {
    InputPath& input = inputs[i];
    if (!IsReadOnce(input.path)) continue;
    const auto progress = [&](uint64_t bytes) {
      if (options.progress) options.progress({input.path, bytes, 0, i, inputs.size()});
    };
    GAPLESS_ASSIGN(input.piped, Spool(input.path, stop.get(), progress));
    input.path = input.piped->path();
  }
  return {};
}

// Leaves out summaries of recordings that were read, too: a rank counts once, and its events tell more.
void LeaveOutSummarised(std::vector<std::shared_ptr<const Trace>>& traces) {
  const auto is_summary = [](const auto& trace) { return trace->summary != nullptr; };
  if (std::ranges::none_of(traces, is_summary) || std::ranges::all_of(traces, is_summary)) return;
  std::set<decltype(IdentifyingFactsOf(*traces[0]))> whole;
  for (const auto& trace : traces)
    if (!trace->summary) whole.insert(IdentifyingFactsOf(*trace));
  std::erase_if(traces,
                [&](const auto& trace) { return trace->summary && whole.contains(IdentifyingFactsOf(*trace)); });
}

Result<std::shared_ptr<const RoleChoice>> RolesOf(const OpenOptions& options) {
  RoleChoice choice{.lead = options.lead_role};
  for (const std::string& text : options.roles) {
    GAPLESS_ASSIGN(auto pattern, ReadRolePattern(text));
    choice.said.push_back(std::move(pattern));
  }
  return std::make_shared<const RoleChoice>(std::move(choice));
}

// Says which ranks there are, for a call that wanted none of them.
std::string RanksOf(const std::vector<std::shared_ptr<const Trace>>& traces) {
  std::set<int64_t> ranks;
  for (const auto& trace : traces)
    if (trace->info.rank >= 0) ranks.insert(trace->info.rank);
  if (ranks.empty() && !traces.empty()) return "this recording names no rank: leave out --rank";
  if (ranks.empty()) return "leave out --rank to see which there are";
  std::string text;
  for (const int64_t rank : ranks) text += StrCat(text.empty() ? "there are: --rank " : ",", rank);
  return text;
}

Result<void> CheckLead(const Run& run, std::string_view lead) {
  std::set<std::string> roles;
  for (const RunTrace& of : run.traces())
    if (!of.job_role.empty()) roles.insert(of.job_role);
  if (lead.empty() || roles.contains(std::string(lead))) return {};
  std::string names;
  for (const std::string& role : roles) names += StrCat(names.empty() ? "" : ", ", Printable(role));
  return Fail(ErrorCode::kUsage, StrCat("no process has the role '", Printable(lead), "'"), "--lead-role",
              roles.empty() ? "say which processes have it: --role REGEX=NAME" : StrCat("the roles are ", names));
}

}  // namespace

Result<Trace> ReadTrace(Source& source, const ReadContext& context) {
  // The stream that is opened here only serves the detection; the reader opens its own from the start.
  std::string head(kSniffBytes, '\0');
  {
    GAPLESS_ASSIGN(auto stream, source.Open());
    GAPLESS_ASSIGN(auto got, stream->Read(head.data(), head.size()));
    head.resize(got);
  }
  const Reader* reader = FindReader(head);
  if (reader == nullptr) reader = ReaderOfEnd(source, head);
  if (reader == nullptr) return UnknownFormat(head, source.path());
  if (reader->open != nullptr) return reader->open(source);
  TraceBuilder builder;
  builder.info().path = source.path();
  builder.info().format = reader->name;
  GAPLESS_TRY(reader->read(source, builder, context));
  Trace trace = std::move(builder).Finish(&context.pool);
  if (reader->complete != nullptr) reader->complete(trace);
  return trace;
}

Result<LoadedRun> LoadRun(std::span<const std::string> paths, const OpenOptions& options, const CalledAs& shown) {
  GAPLESS_ASSIGN(const auto roles, RolesOf(options));
  GAPLESS_ASSIGN(auto inputs, InputPathsOf(paths));
  GAPLESS_TRY(TakePiped(inputs, options));
  PairExecutionTraces(inputs);
  Loader loader(options, inputs, shown);
  std::vector<Loaded> loaded = loader.Run();
  std::vector<InputPath> deeper = DeeperInputs(inputs, loaded);
  PairExecutionTraces(deeper);
  Loader below(options, deeper, shown);
  if (!loader.interrupted() && !deeper.empty()) std::ranges::move(below.Run(), std::back_inserter(loaded));
  Loaded all;
  for (Loaded& each : loaded) {
    std::ranges::move(each.traces, std::back_inserter(all.traces));
    std::ranges::move(each.failures, std::back_inserter(all.failures));
    all.filtered += each.filtered;
  }
  if (loader.interrupted() || below.interrupted()) return Fail(ErrorCode::kInterrupted, "interrupted");
  if (all.traces.empty() && all.filtered == 0) {
    if (!all.failures.empty()) return Unexpected{all.failures.front()};
    return Fail(ErrorCode::kUsage, "no recording given");
  }
  LeaveOutSummarised(all.traces);
  const std::string others = RanksOf(all.traces);
  Run run(std::move(all.traces), options.ranks, roles);
  if (run.traces().empty()) return Fail(ErrorCode::kInput, "no recording of the wanted ranks", "", others);
  GAPLESS_TRY(CheckLead(run, roles->lead));
  return LoadedRun{std::move(run), std::move(all.failures)};
}

}  // namespace gapless::internal
