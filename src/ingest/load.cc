// SPDX-License-Identifier: Apache-2.0
#include "ingest/load.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "ingest/cache.h"
#include "ingest/reader.h"
#include "wire/control_block.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
constexpr size_t kSniffBytes = size_t{64} * 1024;

struct Input {
  std::string path;
  int64_t given_rank = kAbsent;
  bool named = false;  // by the user, not found in a folder
};

bool HasExtension(std::string_view path) {
  for (const Reader* reader : AllReaders())
    for (const std::string_view extension : reader->extensions)
      if (path.ends_with(extension)) return true;
  return path.ends_with(".tar") || path.ends_with(".tar.gz") || path.ends_with(".tgz") || path.ends_with(".tar.zst");
}

// "3=path" when no file has that very name.
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

void FindInRun(const std::string& folder, int depth, std::vector<std::string>& found) {
  std::error_code ended, error;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended)) {
    const std::string name = at->path().filename().string();
    const fs::file_status status = at->symlink_status(error);  // a link leads out of the run
    if (fs::is_regular_file(status) && IsRecordingOfRun(folder, name)) found.push_back(at->path().string());
    if (depth == 0 && fs::is_directory(status) && name != "tools") FindInRun(at->path().string(), 1, found);
  }
}

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
                  "its manifest.json tells what ran; steps are seen where PyTorch trains or a model is called");
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

const Reader* FindReader(std::string_view head) {
  const Reader* maybe = nullptr;
  for (const Reader* reader : AllReaders()) {
    const Sniff verdict = reader->sniff(head);
    if (verdict == Sniff::kYes) return reader;
    if (verdict == Sniff::kMaybe && maybe == nullptr) maybe = reader;
  }
  return maybe;
}

bool Grows(std::string_view format) {
  return std::any_of(AllReaders().begin(), AllReaders().end(),
                     [&](const Reader* reader) { return reader->name == format && reader->grows; });
}

class Loader {
 public:
  explicit Loader(const OpenOptions& options) : options_(options), stop_(options), pool_(options.threads) {}

  void Load(const Input& input) {
    auto source = OpenFile(input.path);
    if (!source) return Failed(source.error());
    current_ = source->get();
    if (IsTar(**source)) return LoadArchive(input);
    const std::string key = options_.use_cache ? CacheKey(input.path) : "";
    if (auto cached = TakeFromCache(key)) return Keep(std::move(cached), input);
    auto trace = ReadTrace(**source, Context());
    current_ = nullptr;
    done_ += (*source)->stored_bytes();
    if (!trace) return Failed(trace.error());
    auto shared = std::make_shared<Trace>(std::move(*trace));
    if (!key.empty() && !Grows(shared->info.format)) PutIntoCache(key, *shared);
    Keep(std::move(shared), input);
  }

  void SetTotal(const std::vector<Input>& inputs) {
    for (const Input& input : inputs) {
      std::error_code error;
      const auto size = fs::file_size(input.path, error);
      if (!error) total_ += size;
    }
  }

  bool interrupted() const { return stop_.is_set(); }
  std::vector<std::shared_ptr<const Trace>>& traces() { return traces_; }
  std::vector<Error>& failures() { return failures_; }
  int filtered() const { return filtered_; }  // recordings of other ranks than wanted

 private:
  ReadContext Context() {
    ReadContext context{.pool = pool_, .cancel = stop_.get(), .progress = nullptr};
    if (options_.progress)
      context.progress = [this] {
        const Source* source = current_;
        if (source != nullptr) options_.progress({source->path(), done_ + source->bytes_taken(), total_});
      };
    return context;
  }

  void LoadArchive(const Input& input) {
    current_ = nullptr;
    const size_t before = traces_.size();
    auto walked = ForEachTarMember(input.path, [&](Source& member) {
      if (interrupted()) return;
      auto trace = ReadTrace(member, Context());
      if (trace)
        Keep(std::make_shared<Trace>(std::move(*trace)), {member.path(), kAbsent, true});
      else
        Failed(trace.error());
    });
    if (!walked)
      Failed(walked.error());
    else if (traces_.size() == before && failures_.empty())
      Failed({ErrorCode::kInput, "the archive holds no recording", input.path, ""});
  }

  void Keep(std::shared_ptr<Trace> trace, const Input& input) {
    trace->info.path = input.path;
    if (trace->info.rank == kAbsent)
      trace->info.rank = input.given_rank != kAbsent ? input.given_rank : RankInName(input.path);
    const auto& wanted = options_.ranks;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), trace->info.rank) == wanted.end())
      return void(++filtered_);
    traces_.push_back(std::move(trace));
  }
  void Failed(Error error) { failures_.push_back(std::move(error)); }

  const OpenOptions& options_;
  const StopFlag stop_;
  ThreadPool pool_;
  const Source* current_ = nullptr;
  uint64_t done_ = 0, total_ = 0;
  std::vector<std::shared_ptr<const Trace>> traces_;
  std::vector<Error> failures_;
  int filtered_ = 0;
};

}  // namespace

Result<Trace> ReadTrace(Source& source, const ReadContext& context) {
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
  // The manifest of a run on a disk that was full may be missing.
  std::string magic(wire::kControlMagic.size(), '\0');
  std::ifstream(path + "/control", std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
  return magic == wire::kControlMagic;
}

int64_t RankInName(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
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
  Loader loader(options);
  loader.SetTotal(*inputs);
  for (const Input& input : *inputs) {
    loader.Load(input);
    if (loader.interrupted()) return Fail(ErrorCode::kInterrupted, "interrupted");
  }
  if (loader.traces().empty()) {
    if (loader.filtered() > 0)
      return Fail(ErrorCode::kInput, "no recording of the wanted ranks", "", "leave out --rank to see which there are");
    if (!loader.failures().empty()) return Unexpected{loader.failures().front()};
    return Fail(ErrorCode::kUsage, "no recording given");
  }
  return LoadedRun{Run(std::move(loader.traces())), std::move(loader.failures())};
}

}  // namespace gapless::internal
