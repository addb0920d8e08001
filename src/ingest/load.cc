// SPDX-License-Identifier: Apache-2.0
// Expands paths to inputs, reads large inputs with all threads one after the other and small inputs in parallel,
// then joins their traces in a Run.
//
// The reader of an input is found by its content, never by its name. Each reader judges the first 64 KiB,
// decompressed: the first that says yes reads the input, else the first that says maybe. Names only decide which
// files of a directory are looked at.
//
// An input that cannot be read does not stop the others: its error is reported beside the run. Only when no input
// could be read does the first error become the result.
#include "ingest/load.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/strings.h"
#include "base/timings.h"
#include "ingest/cache.h"
#include "ingest/reader.h"
#include "wire/control_block.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
// Decompressed bytes at the start of an input that readers see to recognise their format.
constexpr size_t kSniffBytes = size_t{64} * 1024;

// An Input is one path to read: a file that was named or found in a directory.
struct Input {
  std::string path;
  int64_t given_rank = kAbsent;
  bool named = false;  // by the user, not found in a folder
};

// Returns true if files of this name are looked for in directories: the readers' extensions and those of tar
// archives.
bool HasExtension(std::string_view path) {
  for (const Reader* reader : AllReaders())
    for (const std::string_view extension : reader->extensions)
      if (path.ends_with(extension)) return true;
  return path.ends_with(".tar") || path.ends_with(".tar.gz") || path.ends_with(".tgz") || path.ends_with(".tar.zst");
}

// Splits "3=path" into rank and path, unless a file has that very name. Text before "=" that is not a whole number
// ≥ 0 belongs to the path.
Input ParseInput(const std::string& argument) {
  Input input{argument, kAbsent, true};
  const size_t equals = argument.find('=');
  std::error_code ignored;
  if (equals == std::string::npos || equals == 0 || fs::exists(argument, ignored)) return input;
  int64_t rank = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + equals, rank);
  if (error != std::errc() || end != argument.data() + equals || rank < 0) return input;
  input.path = argument.substr(equals + 1);
  input.given_rank = rank;
  return input;
}

// Recordings of a run folder (docs/run_bundle.md) lie in a folder per rank. JSON files beside them are not all
// recordings.
bool IsRecordingOfRun(const std::string& folder, const std::string& name) {
  const bool is_json = name.find(".json") != std::string::npos;
  const bool is_known_json = name.find(".pt.trace.json") != std::string::npos || name.ends_with(".host.json");
  if (name.ends_with(".tmp") || (is_json ? !is_known_json : !HasExtension(name))) return false;
  // A ring is read together with what was saved of it.
  constexpr std::string_view kSaved = ".events";
  std::error_code error;
  return !name.ends_with(kSaved) ||
         !fs::exists(StrCat(folder, "/", name.substr(0, name.size() - kSaved.size()), ".ring"), error);
}

// Collects the recordings of a run directory and of the directories directly in it. "tools" is left out: it holds
// what gapless put into the processes.
void FindInRun(const std::string& folder, int depth, std::vector<std::string>& found) {
  std::error_code ended, error;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended)) {
    const std::string name = at->path().filename().string();
    const fs::file_status status = at->symlink_status(error);  // a link leads out of the run
    if (fs::is_regular_file(status) && IsRecordingOfRun(folder, name)) found.push_back(at->path().string());
    if (depth == 0 && fs::is_directory(status) && name != "tools") FindInRun(at->path().string(), 1, found);
  }
}

// Turns arguments into inputs; directories become the recordings in them, in name order. A directory without any
// recording is an error, even when other arguments are fine: the user named it.
Result<std::vector<Input>> Expand(std::span<const std::string> paths) {
  std::vector<Input> inputs;
  for (const std::string& argument : paths) {
    const Input input = ParseInput(argument);
    std::error_code error;
    if (!fs::is_directory(input.path, error)) {
      inputs.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    std::error_code ended;
    const bool is_run = IsRunFolder(input.path);
    if (is_run) FindInRun(input.path, 0, found);
    if (is_run && found.empty())
      return Fail(ErrorCode::kInput, "nothing was recorded in this run", input.path,
                  "its manifest.json says what ran; steps are seen where PyTorch trains or a model is called");
    for (fs::directory_iterator at(input.path, ended), end; !is_run && !ended && at != end; at.increment(ended))
      if (at->is_regular_file(error) && HasExtension(at->path().string())) found.push_back(at->path().string());
    if (found.empty())
      return Fail(ErrorCode::kInput, "no recording in this folder", input.path,
                  "looked for .json, .json.gz, .json.zst and tar archives");
    std::sort(found.begin(), found.end());
    for (std::string& path : found) inputs.push_back({std::move(path), input.given_rank, false});
  }
  return inputs;
}

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
  Loader(const OpenOptions& options, const std::vector<Input>& inputs)
      : options_(options), stop_(options), inputs_(inputs), loaded_(inputs.size()), taken_(inputs.size()) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::error_code error;
      const auto size = fs::file_size(inputs[i].path, error);
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
  // Reads one input into its own slot of `loaded_`; different indexes may be loaded by different threads at once.
  // An archive is never cached as a whole, since each of its members is a recording.
  void Load(size_t index, ThreadPool& pool) {
    if (interrupted()) return;
    const Input& input = inputs_[index];
    Loaded& loaded = loaded_[index];
    const TimedPart timed("reading", "");
    auto source = OpenFile(input.path);
    if (!source) return loaded.failures.push_back(source.error());
    if (IsTar(**source)) return LoadArchive(index, pool);
    const std::string key = options_.use_cache ? CacheKey(input.path) : "";
    if (auto cached = TakeFromCache(key)) {
      Keep(std::move(cached), input, loaded);
    } else {
      auto trace = ReadTrace(**source, Context(index, pool, source->get()));
      if (trace) {
        auto shared = std::make_shared<Trace>(std::move(*trace));
        if (!key.empty() && !Grows(shared->info.format)) PutIntoCache(key, *shared);
        Keep(std::move(shared), input, loaded);
      } else {
        loaded.failures.push_back(trace.error());
      }
    }
    taken_[index] = (*source)->stored_bytes();
    ++done_;
  }

  // Returns the context that a reader gets. Progress sums the bytes of all inputs, since small ones are read side
  // by side.
  ReadContext Context(size_t index, ThreadPool& pool, const Source* source) {
    ReadContext context{.pool = pool, .cancel = stop_.get(), .progress = nullptr};
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
  void LoadArchive(size_t index, ThreadPool& pool) {
    const Input& input = inputs_[index];
    Loaded& loaded = loaded_[index];
    auto walked = ForEachTarMember(input.path, [&](Source& member) {
      if (interrupted()) return;
      auto trace = ReadTrace(member, Context(index, pool, nullptr));
      if (trace)
        Keep(std::make_shared<Trace>(std::move(*trace)), {member.path(), kAbsent, true}, loaded);
      else
        loaded.failures.push_back(trace.error());
    });
    if (!walked)
      loaded.failures.push_back(walked.error());
    else if (loaded.traces.empty() && loaded.failures.empty())
      loaded.failures.push_back({ErrorCode::kInput, "the archive holds no recording", input.path, ""});
    ++done_;
  }

  // Sets the trace's path and rank, and keeps it if its rank is wanted. The path is set after the cache was asked:
  // a cached trace may have been read under another spelling of the path.
  void Keep(std::shared_ptr<Trace> trace, const Input& input, Loaded& loaded) const {
    trace->info.path = input.path;
    if (trace->info.rank == kAbsent)
      trace->info.rank = input.given_rank != kAbsent ? input.given_rank : RankInName(input.path);
    const auto& wanted = options_.ranks;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), trace->info.rank) == wanted.end())
      return void(++loaded.filtered);
    loaded.traces.push_back(std::move(trace));
  }

  static constexpr uint64_t kSmallBytes = uint64_t{48} << 20;

  const OpenOptions& options_;
  const StopFlag stop_;
  const std::vector<Input>& inputs_;
  std::vector<size_t> large_, small_;         // into inputs_
  std::vector<Loaded> loaded_;                // by input
  std::vector<std::atomic<uint64_t>> taken_;  // by input: bytes
  std::atomic<size_t> done_ = 0;              // inputs
  uint64_t total_ = 0;
};

}  // namespace

Result<Trace> ReadTrace(Source& source, const ReadContext& context) {
  // The stream that is opened here only serves the detection; the reader opens its own from the start.
  std::string head(kSniffBytes, '\0');
  {
    auto stream = source.Open();
    if (!stream) return Unexpected{stream.error()};
    auto got = (*stream)->Read(head.data(), head.size());
    if (!got) return Unexpected{got.error()};
    head.resize(*got);
  }
  const Reader* reader = FindReader(head);
  if (reader == nullptr)
    return Fail(ErrorCode::kInput, head.empty() ? "the file is empty" : "no reader knows this format", source.path(),
                "`gapless formats` lists what can be read");
  TraceBuilder builder;
  builder.info().path = source.path();
  builder.info().format = reader->name;
  GAPLESS_TRY(reader->read(source, builder, context));
  Trace trace = std::move(builder).Finish(&context.pool);
  if (reader->complete != nullptr) reader->complete(trace);
  return trace;
}

bool IsRunFolder(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path + "/control", error)) return false;
  if (fs::exists(path + "/manifest.json", error)) return true;
  // The manifest of a run on a disk that was full may be missing. The control file alone must then show by its
  // magic that it is ours.
  std::string magic(wire::kControlMagic.size(), '\0');
  std::ifstream(path + "/control", std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return magic == wire::kControlMagic;
}

int64_t RankInName(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  // Tries every "rank" in the name: "rank_test_rank3" has a number only behind the second.
  for (size_t at = 0; (at = name.find("rank", at)) != std::string_view::npos; at += 4) {
    size_t digits = at + 4;
    if (digits < name.size() && (name[digits] == '-' || name[digits] == '_' || name[digits] == '.')) ++digits;
    int64_t rank = 0;
    const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), rank);
    if (error == std::errc() && end != name.data() + digits && rank >= 0) return rank;
  }
  return kAbsent;
}

Result<LoadedRun> LoadRun(std::span<const std::string> paths, const OpenOptions& options) {
  auto inputs = Expand(paths);
  if (!inputs) return Unexpected{inputs.error()};
  Loader loader(options, *inputs);
  Loaded all;
  for (Loaded& loaded : loader.Run()) {
    std::ranges::move(loaded.traces, std::back_inserter(all.traces));
    std::ranges::move(loaded.failures, std::back_inserter(all.failures));
    all.filtered += loaded.filtered;
  }
  if (loader.interrupted()) return Fail(ErrorCode::kInterrupted, "interrupted");
  if (all.traces.empty()) {
    if (all.filtered > 0)
      return Fail(ErrorCode::kInput, "no recording of the wanted ranks", "", "leave out --rank to see which there are");
    if (!all.failures.empty()) return Unexpected{all.failures.front()};
    return Fail(ErrorCode::kUsage, "no recording given");
  }
  return LoadedRun{Run(std::move(all.traces)), std::move(all.failures)};
}

}  // namespace gapless::internal
