// SPDX-License-Identifier: Apache-2.0
// Implements the three parts: two runs of the command, the files that the agents noted, and the rounds of the measuring
// program, which runs in the interpreter that loaded the samples, so that it finds the same packages.
#include "optimize/storage_tuning.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/json_value.h"
#include "base/json_writer.h"
#include "base/strings.h"
#include "collect/files.h"
#include "optimize/contest.h"
#include "proof/comparison.h"
#include "proof/measure.h"
#include "validate/summary.h"

namespace gapless::internal {
namespace {

constexpr size_t kWatchedSteps = 40, kMostNotes = size_t{64} << 20;
constexpr int64_t kMostFiles = 256, kMostBytes = int64_t{256} << 20;
constexpr double kFromStorage = 0.5;  // of a sample's bytes, so that it counts as read from storage
constexpr std::string_view kFiles = "files", kMemoryFolder = "/dev/shm";

// Adds up the steps of the first rank behind the warm-up, and their waits for batches.
class WaitWatch : public Watcher {
 public:
  explicit WaitWatch(size_t warmup) : warmup_(warmup) {}
  void OnRecord(AgentProcess& process, const wire::RingRecord& record) override {
    const wire::RingHeader& header = process.ring.header();
    if (record.kind != wire::RecordKind::kStep || header.role != wire::AgentRole::kTrains || header.rank > 0) return;
    if (pid_ == 0) pid_ = header.pid;
    if (header.pid != pid_ || ++steps_ <= warmup_) return;
    total_ns_ += static_cast<double>(record.dur_ns);
    waited_ns_ += record.x;
  }
  // Absent: no step was seen, or the agent does not know its waits.
  std::optional<double> Share() const {
    if (!(total_ns_ > 0) || !std::isfinite(waited_ns_)) return std::nullopt;
    return std::clamp(waited_ns_ / total_ns_, 0.0, 1.0);
  }

 private:
  size_t warmup_, steps_ = 0;
  decltype(wire::RingHeader::pid) pid_ = 0;
  double total_ns_ = 0, waited_ns_ = 0;
};

// The lines of all agents, added up.
struct NotedSums {
  SampleCost cost{};  // sums, not means
  double known_bytes = 0, storage_bytes = 0;
  std::map<std::string, double, std::less<>> decoders{};
  std::set<std::string, std::less<>> known{};
  std::vector<std::string> files{};
  std::string python{}, iterable{};
  std::map<std::string, int64_t, std::less<>> counts{};  // of samples, of all processes
};

void AddSample(const JsonValue& line, NotedSums& sums) {
  const auto number = [&](std::string_view key) { return line.Get(key).Number().value_or(0); };
  sums.cost.samples += static_cast<size_t>(std::max(0.0, number("samples")));
  sums.cost.total_ns += number("total_ns");
  sums.cost.read_ns += number("read_ns");
  sums.cost.decode_ns += number("decode_ns");
  sums.cost.rest_ns += number("rest_ns");
  double bytes = 0;
  for (const JsonValue& file : line.Get("files").items()) {
    bytes += file.Get("bytes").Number().value_or(0);
    std::string path = file.TextOf("path");
    if (sums.known.insert(path).second) sums.files.push_back(std::move(path));
  }
  sums.cost.file_bytes += bytes;
  sums.cost.opened += static_cast<double>(line.Get("files").items().size());
  if (const auto stored = line.Get("storage_bytes").Number()) {
    sums.known_bytes += bytes;
    sums.storage_bytes += std::min(bytes, *stored);
  }
  const JsonValue& decoders = line.Get("decoders");
  for (size_t i = 0; i < decoders.keys().size(); ++i)
    sums.decoders[decoders.keys()[i]] += decoders.items()[i].Number().value_or(0);
}

// The last line of counts of a file holds.
void AddNotes(const std::string& path, NotedSums& sums) {
  const std::string content = ContentOf(path, kMostNotes);
  std::map<std::string, int64_t, std::less<>> counts;
  for (const std::string_view text : Split(content, '\n')) {
    if (text.empty()) continue;
    const auto line = JsonValue::Parse(text);
    if (!line) continue;  // the last one of a process that was ended
    if (line->Find("files") != nullptr) AddSample(*line, sums);
    if (std::string python = line->TextOf("python"); !python.empty()) sums.python = std::move(python);
    if (line->Get("iterable").Bool().value_or(false)) sums.iterable = line->TextOf("dataset");
    for (const char* key : {"seen", "parts", "without_files", "too_large"})
      if (const auto count = line->Get(key).Int()) counts[key] = *count;
  }
  for (const auto& [key, count] : counts) sums.counts[key] += count;
}

// Says why there is nothing to store in another way.
Unexpected NothingToTune(const NotedSums& sums) {
  const auto count = [&](std::string_view key) {
    const auto found = sums.counts.find(key);
    return found == sums.counts.end() ? int64_t{0} : found->second;
  };
  const std::string hint = "gapless tune dataloader measures numbers of workers";
  std::string why = "the program reads no samples through a DataLoader";
  if (!sums.iterable.empty()) why = StrCat("the dataset ", Printable(sums.iterable), " is a stream (IterableDataset)");
  if (count("seen") > 0)
    why = StrCat("of ", count("seen"), " samples none opened a file; reads of a file that stays open are not seen");
  if (count("too_large") > 0) why = StrCat("the files of ", count("too_large"), " samples are larger than 64 MiB each");
  if (count("parts") > 0)
    why = StrCat(count("parts"), " samples read small parts of larger files, as of one array for all of them");
  return Fail(ErrorCode::kCommand, StrCat("there is no storage of samples to tune: ", why), "", hint);
}

Result<WatchedSamples> SamplesFrom(NotedSums sums) {
  if (sums.cost.samples == 0 || sums.files.empty()) return NothingToTune(sums);
  SampleCost cost = sums.cost;
  const auto count = static_cast<double>(cost.samples);
  for (double* sum : {&cost.total_ns, &cost.read_ns, &cost.decode_ns, &cost.rest_ns, &cost.file_bytes, &cost.opened})
    *sum /= count;
  cost.files = sums.files.size();
  if (sums.known_bytes > 0) cost.storage_share = sums.storage_bytes / sums.known_bytes;
  const auto most = std::ranges::max_element(sums.decoders, {}, [](const auto& decoder) { return decoder.second; });
  if (most != sums.decoders.end()) cost.decoder = most->first;
  return WatchedSamples{.cost = cost, .files = std::move(sums.files), .python = std::move(sums.python)};
}

std::string PlanOf(const WatchedSamples& samples, const StorageOptions& options, const std::string& folder,
                   const std::string& memory_folder, double seconds) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Key("files");
  json.BeginArray();
  for (const std::string& file : samples.files) json.String(file);
  json.EndArray();
  json.Field("decoder", samples.cost.decoder);
  json.Field("folder", folder);
  json.Field("memory_folder", memory_folder);
  json.Field("most_files", kMostFiles);
  json.Field("most_bytes", kMostBytes);
  json.Field("rounds", options.most_rounds);
  json.Field("seconds", seconds);
  json.Field("seed", options.seed);
  json.EndObject();
  return text;
}

// Runs the measuring program, and returns its document. Copies lie below `folder` and in memory.
Result<std::string> MeasureStores(const RunRequest& request, const WatchedSamples& samples,
                                  const StorageOptions& options, const std::string& folder, double seconds) {
  const std::string plan = StrCat(folder, "/plan.json"), result = StrCat(folder, "/result.json");
  const std::string copies = StrCat(folder, "/copies");
  GAPLESS_TRY(MakeFolders(copies, 0700));
  const auto memory = TemporaryFolder::MakeIn(kMemoryFolder);  // an error: the system has none
  GAPLESS_TRY(WriteFileAtomically(plan, PlanOf(samples, options, copies, memory ? memory->path() : "", seconds), 0600));
  RunRequest measuring{.command = {samples.python, "-m", "gapless_agent.storage", plan, result},
                       .working_folder = request.working_folder,
                       .cpus = request.cpus,
                       .folder = StrCat(folder, "/measuring"),
                       .warmup = 0,
                       .to_the_end = true,
                       .whole_process = true,
                       .environment = request.environment,
                       .telemetry_hz = 0};
  measuring.note_on_failure = "this is the program that measures the files of the samples";
  GAPLESS_ASSIGN(const auto sample, RunOnce(measuring));
  if (sample.interrupted || !Succeeded(sample)) return FailureOf(sample, measuring);
  return ContentOf(result, kMostNotes);
}

// The times of a file in one way, by the number of the round; NaN where it was not measured.
std::vector<double> TimesOf(const JsonValue& document, size_t arm) {
  std::vector<double> times;
  const std::string key = std::to_string(arm);
  for (const JsonValue& round : document.Get("rounds").items())
    times.push_back(round.Get(key).Number().value_or(std::nan("")));
  return times;
}

// The pairs of all rounds that have both.
PairSequence PairsOf(const std::vector<double>& first, const std::vector<double>& times, const PairOptions& options) {
  PairSequence pairs(options);
  for (size_t i = 0; i < std::min(first.size(), times.size()); ++i)
    if (first[i] > 0 && times[i] > 0) pairs.Add(std::log(times[i] / first[i]));
  pairs.End();
  return pairs;
}

StorageArm ArmFrom(const JsonValue& about, const std::vector<double>& times) {
  StorageArm arm{.name = about.TextOf("name"),
                 .decodes = about.TextOf("kind") == "decode",
                 .cold = about.Get("cold").Bool().value_or(false),
                 .why_not = about.TextOf("why_not")};
  arm.from_storage_share = about.Get("from_storage_share").Number();
  if (!arm.why_not.empty()) return arm;
  arm.largest_difference = about.Get("largest_difference").Int();
  std::vector<double> known;
  std::ranges::copy_if(times, std::back_inserter(known), [](double time) { return time > 0; });
  arm.rounds = known.size();
  arm.file_ns = MedianInPlace(known);
  if (known.empty()) arm.why_not = "the time was up";
  return arm;
}

// Compares the arms with those that they are to be better than.
class ArmJudge {
 public:
  ArmJudge(std::vector<StorageArm>& arms, std::vector<std::vector<double>> times, PairOptions options)
      : arms_(arms), times_(std::move(times)), options_(options) {
    const auto first = [&](auto fits) -> std::optional<size_t> {
      for (size_t i = 0; i < arms_.size(); ++i)
        if (arms_[i].why_not.empty() && fits(arms_[i])) return i;
      return std::nullopt;
    };
    warm_ = first([](const StorageArm& arm) { return !arm.decodes && !arm.cold && arm.name == kFiles; });
    cold_ = first([](const StorageArm& arm) { return !arm.decodes && arm.cold && arm.name == kFiles; });
    decoder_ = first([](const StorageArm& arm) { return arm.decodes; });
    const auto usable = std::ranges::count_if(arms_, [](const StorageArm& arm) { return arm.why_not.empty(); });
    options_.alpha /= static_cast<double>(std::max<std::ptrdiff_t>(usable - 1, 1));
  }

  void Judge() {
    for (size_t i = 0; i < arms_.size(); ++i) {
      StorageArm& arm = arms_[i];
      if (!arm.why_not.empty() || i == decoder_) continue;
      if (arm.decodes) Against(i, decoder_, arm.speedup, arm.verdict);
      if (arm.decodes || i == cold_) continue;
      if (!arm.cold && i != warm_) Against(i, warm_, arm.speedup, arm.verdict);
      // A copy in memory is never cold.
      if (arm.cold || i == warm_ || arm.name == "tmpfs") Against(i, cold_, arm.cold_speedup, arm.cold_verdict);
    }
  }

 private:
  void Against(size_t arm, std::optional<size_t> base, std::optional<RatioInterval>& speedup, SpeedVerdict& verdict) {
    if (!base) return;
    const PairSequence pairs = PairsOf(times_[*base], times_[arm], options_);
    if (pairs.size() == 0) return;
    speedup = SpeedupOf(pairs.Interval());
    verdict = pairs.Verdict();
  }

  std::vector<StorageArm>& arms_;
  std::vector<std::vector<double>> times_;
  PairOptions options_;
  std::optional<size_t> warm_{}, cold_{}, decoder_{};
};

// Adds the share of a sample that each way would save, as it is loaded now, and the best of them. Decoders save
// something known only where the first of them is the program's own.
void AddSavings(StorageTuning& tuning) {
  const bool cold = tuning.IsCold();
  const SampleCost& cost = tuning.cost;
  const auto first =
      std::ranges::find_if(tuning.arms, [](const StorageArm& arm) { return arm.decodes && arm.why_not.empty(); });
  const bool own_decoder = first != tuning.arms.end() && first->name == cost.decoder;
  for (size_t i = 0; i < tuning.arms.size(); ++i) {
    StorageArm& arm = tuning.arms[i];
    const auto& speedup = cold && !arm.decodes ? arm.cold_speedup : arm.speedup;
    if (!speedup || !(speedup->expected > 0) || (arm.decodes && !own_decoder)) continue;
    const double part = cost.ShareOf(arm.decodes ? cost.decode_ns : cost.read_ns);
    arm.sample_saving = part * (1 - 1 / speedup->expected);
    if (tuning.wait_share && arm.sample_saving > 0)
      arm.most_step_speedup = StepGain(*tuning.wait_share, tuning.workers, *arm.sample_saving);
    // The page cache is no storage to choose: it is there, or the memory is too small for it.
    if (arm.name == kFiles || (cold && !arm.decodes ? arm.cold_verdict : arm.verdict) != SpeedVerdict::kFaster)
      continue;
    auto& best = arm.decodes ? tuning.best_decoder : tuning.best_store;
    if (!best || arm.sample_saving > tuning.arms[*best].sample_saving) best = i;
  }
}

}  // namespace

bool StorageTuning::IsCold() const {
  return cost.storage_share.value_or(0) >= kFromStorage &&
         std::ranges::any_of(arms, [](const StorageArm& arm) { return arm.cold_speedup.has_value(); });
}

double StepGain(double wait_share, int64_t workers, double saving) {
  const double saved = std::clamp(saving, 0.0, 1.0), wait = std::clamp(wait_share, 0.0, 0.999);
  return 1 / std::max(workers == 0 ? 1 - wait * saved : std::max(1 - wait, 1 - saved), 1e-3);
}

Result<WatchedSamples> ReadSamples(const std::string& run_folder) {
  NotedSums sums;
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(run_folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().filename().string().starts_with("samples-") && at->path().extension() == ".jsonl")
      paths.push_back(at->path().string());
  std::ranges::sort(paths);
  for (const std::string& path : paths) AddNotes(path, sums);
  return SamplesFrom(std::move(sums));
}

Result<void> JudgeStorage(std::string_view result, const StorageOptions& options, StorageTuning& tuning) {
  GAPLESS_ASSIGN(const auto document, JsonValue::Parse(result));
  std::vector<std::vector<double>> times;
  for (const JsonValue& about : document.Get("arms").items()) {
    times.push_back(TimesOf(document, times.size()));
    tuning.arms.push_back(ArmFrom(about, times.back()));
  }
  if (tuning.arms.empty()) return Fail(ErrorCode::kCommand, "the program that measures the files said nothing");
  const auto count = [&](std::string_view key) {
    return static_cast<size_t>(std::max<int64_t>(0, document.Get(key).Int().value_or(0)));
  };
  tuning.rounds = document.Get("rounds").items().size();
  tuning.files = count("files");
  tuning.images = count("images");
  tuning.bytes = document.Get("bytes").Int().value_or(0);
  ArmJudge(tuning.arms, std::move(times), options.pairs).Judge();
  AddSavings(tuning);
  return {};
}

Result<StorageTuning> TuneStorage(const RunRequest& request, const StorageOptions& options,
                                  const std::function<void(const std::string& doing)>& listener) {
  const auto ends = Clock::now() + std::chrono::duration<double>(options.budget_s);
  GAPLESS_ASSIGN(const auto folder, TemporaryFolder::Make());
  StorageTuning tuning;
  WaitWatch waits(request.warmup);
  RunRequest plain = request;
  plain.watchers.push_back(&waits);
  listener("steps");
  GAPLESS_ASSIGN(const auto sample, RunMeasured(plain));
  if (sample.source == SampleSource::kProcess)
    return Fail(ErrorCode::kCommand, "there is no storage of samples to tune: the command takes no steps", "",
                StrCat("steps are counted in Python processes that import PyTorch", AgentWords(sample)));
  tuning.step_ms = MeanStepMs(sample);
  tuning.wait_share = waits.Share();
  if (!sample.loaders.empty()) tuning.workers = std::max<int64_t>(0, std::ranges::max(sample.loaders));

  RunRequest watched = request;
  watched.folder = StrCat(folder.path(), "/watched");
  watched.watch_samples = true;
  watched.warmup = 0;
  watched.measure = kWatchedSteps;
  listener("samples");
  GAPLESS_TRY(RunMeasured(watched));
  GAPLESS_ASSIGN(const auto samples, ReadSamples(watched.folder));
  tuning.cost = samples.cost;

  listener("storage and decoders");
  const double left = std::max(1.0, std::chrono::duration<double>(ends - Clock::now()).count());
  GAPLESS_ASSIGN(const auto result, MeasureStores(request, samples, options, folder.path(), left));
  GAPLESS_TRY(JudgeStorage(result, options, tuning));
  return tuning;
}

}  // namespace gapless::internal
