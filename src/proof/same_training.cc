// SPDX-License-Identifier: Apache-2.0
// Implements TrainingParity: makes the runs of A that a decision still needs, such as noise probes and reseeded
// runs, and repeats the decision with them.
//
// The decision itself is validate's, and pure: it takes recordings and says what it lacks. So this is a loop of
// "decide, record what is needed, decide again", with at most nine extra runs. Recordings of A are read once and
// kept; the candidate is read each time. With several ranks, each is decided alone and the worst verdict counts.
#include "proof/same_training.h"

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "proof/measure.h"
#include "proof/parity_files.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxExtraRuns = 9;  // maximum number of extra runs of A for one decision: three probes, two wide ones,
                                     // a repeat, three reseeded ones
constexpr int kReseeded = 3;
constexpr std::string_view kBaseline = "baseline", kCandidate = "candidate", kRepeat = "repeat";

// A ProbeSize is a size of a probe's noise, and the word for it in the names of recordings.
struct ProbeSize {
  std::string_view word{};
  double noise = 0;
};
std::array<ProbeSize, 3> ProbeSizes() {
  return {{{"coarse", ProbeNoiseOf(Precision::kBf16)},
           {"fine", ProbeNoiseOf(Precision::kFp32)},
           {"near", UnitOf(Precision::kFp32)}}};
}

std::string NameOfProbe(double noise, bool wide) {
  for (const ProbeSize& size : ProbeSizes())
    if (size.noise == noise) return StrCat(wide ? "wide-probe-" : "probe-", size.word);
  return "";
}

double NoiseOfProbe(std::string_view name) {
  for (const ProbeSize& size : ProbeSizes())
    if (name.ends_with(size.word)) return size.noise;
  return ProbeNoiseOf(Precision::kFp32);
}

// The worse of the two comes first.
int Rank(ParityVerdict verdict) {
  switch (verdict) {
    case ParityVerdict::kOtherTraining: return 0;
    case ParityVerdict::kCannotTell: return 1;
    case ParityVerdict::kSameDistribution: return 2;
    case ParityVerdict::kRounding: return 3;
    case ParityVerdict::kExact: break;
  }
  return 4;
}

ParityReport CannotTell(std::string_view reason) {
  return {.verdict = ParityVerdict::kCannotTell, .reason = StrCat("cannot tell: ", reason)};
}

// A run for a recording alone.
Result<RunSample> RunForRecording(RunRequest request, const ParityOptions& options) {
  request.parity = options;
  request.warmup = 0;
  request.measure = 1;
  request.enough = nullptr;
  request.telemetry_hz = 0;
  request.pattern.clear();
  request.metric.clear();
  request.whole_process = request.to_the_end = false;
  auto sample = RunOnce(request);
  if (sample && (sample->interrupted || !Succeeded(*sample))) return FailureOf(*sample, request);
  return sample;
}

}  // namespace

Result<TrainingParity> TrainingParity::Make(const ParityPlan& plan, RunA run_a) {
  GAPLESS_ASSIGN(auto folder, TemporaryFolder::Make());
  TrainingParity parity(plan, std::move(run_a), folder.path());
  parity.temporary_.emplace(std::move(folder));
  return parity;
}

Result<TrainingParity> TrainingParity::Open(const std::string& folder) {
  TrainingParity parity({}, nullptr, folder);
  if (NamesIn(StrCat(folder, "/", kBaseline)).empty())
    return Fail(ErrorCode::kInput, "there is no recording of a baseline in this folder", folder,
                "docs/parity.md says which recordings a decision needs");
  return parity;
}

// Every run but the baseline also gets the baseline's recording, whose parameters and buffers it takes over after
// each step (docs/parity.md).
ParityOptions TrainingParity::OptionsFor(std::string_view role, std::string_view name) const {
  ParityOptions options{.role = std::string(role), .folder = StrCat(path_, "/", name), .steps = plan_.steps};
  options.seconds = plan_.seconds;
  if (role != kBaseline) options.baseline = StrCat(path_, "/", kBaseline);
  return options;
}

ParityOptions TrainingParity::BaselineOptions() const { return OptionsFor(kBaseline, kBaseline); }

ParityOptions TrainingParity::ProbeOptions(Precision precision) const {
  const double noise = ProbeNoiseOf(precision);
  ParityOptions options = OptionsFor("probe", NameOfProbe(noise, false));
  options.noise = noise;
  return options;
}

ParityOptions TrainingParity::CandidateOptions() {
  std::error_code error;
  std::filesystem::remove_all(StrCat(path_, "/", kCandidate), error);
  return OptionsFor(kCandidate, kCandidate);
}

std::string TrainingParity::WhyNoBaseline() const {
  return NamesIn(StrCat(path_, "/", kBaseline)).empty()
             ? "no optimiser of torch.optim stepped in the command as it is, so there is nothing to compare"
             : "";
}

// Reads the recordings of A that were made since the last time.
Result<void> TrainingParity::Load() {
  for (const std::string& name : NamesIn(path_)) {
    if (name == kCandidate || loaded_[name]) continue;
    loaded_[name] = true;
    for (const std::string& rank : NamesIn(StrCat(path_, "/", name))) {
      GAPLESS_ASSIGN(auto recording, ReadParityRecording(StrCat(path_, "/", name, "/", rank)));
      ParityBaseline& known = ranks_[rank];
      const bool wide = name.starts_with("wide-");
      if (name == kBaseline)
        known.baseline = std::move(recording);
      else if (name == kRepeat)
        known.repeat = std::move(recording);
      else if (name.starts_with("reseeded"))
        known.reseeded.push_back(std::move(recording));
      else {
        recording.noise = NoiseOfProbe(name);
        recording.wide = wide;
        known.probes.push_back(std::move(recording));
      }
    }
  }
  return {};
}

std::vector<ParityOptions> TrainingParity::Needed(const ParityReport& report) const {
  std::vector<ParityOptions> runs;
  const bool wide = report.need == ParityNeed::kWideProbe;
  if (report.need == ParityNeed::kRepeat) runs.push_back(OptionsFor(kRepeat, kRepeat));
  for (int i = 1; report.need == ParityNeed::kReseeded && i <= kReseeded; ++i) {
    runs.push_back(OptionsFor("reseeded", StrCat("reseeded-", i)));
    runs.back().reseed = i;
  }
  if (wide || report.need == ParityNeed::kProbe) {
    runs.push_back(OptionsFor("probe", NameOfProbe(report.need_noise, wide)));
    runs.back().noise = report.need_noise;
    runs.back().wide = wide;
  }
  return runs;
}

// Runs A once more with the options that the report needs.
Result<void> TrainingParity::Record(const ParityReport& report) {
  for (const ParityOptions& options : Needed(report)) {
    GAPLESS_ASSIGN(const auto sample, run_a_(options));
    if (NamesIn(options.folder).empty())
      return Fail(ErrorCode::kCommand,
                  StrCat("the run of the command as it is that was to be a ", options.role, " recorded nothing"), "",
                  AgentWords(sample));
  }
  return {};
}

Result<ParityReport> TrainingParity::JudgeRanks(std::optional<Precision> claim, bool exact) {
  std::optional<ParityReport> worst;
  for (const auto& [rank, known] : ranks_) {
    const std::string folder = StrCat(path_, "/", kCandidate, "/", rank);
    ParityRecording candidate;
    if (!NamesIn(folder).empty()) {
      GAPLESS_ASSIGN(candidate, ReadParityRecording(folder));
    }
    ParityReport report = claim ? DecideParity(known, candidate, *claim, exact) : FindParity(known, candidate);
    if (ranks_.size() > 1 && !report.reason.empty()) report.reason = StrCat(rank, ": ", report.reason);
    const bool asks = report.need != ParityNeed::kNothing;
    if (asks) return report;
    if (!worst || Rank(report.verdict) < Rank(worst->verdict)) worst = std::move(report);
  }
  return worst ? *worst : CannotTell(WhyNoBaseline());
}

Result<ParityReport> TrainingParity::Look(std::optional<Precision> claim, bool exact) {
  if (std::string why = WhyNoBaseline(); !why.empty()) return CannotTell(why);
  if (NamesIn(StrCat(path_, "/", kCandidate)).empty())
    return CannotTell("no optimiser of torch.optim stepped in the changed command");
  GAPLESS_TRY(Load());
  return JudgeRanks(claim, exact);
}

Result<ParityReport> TrainingParity::Judge(std::optional<Precision> claim, bool exact) {
  for (size_t runs = 0; runs < kMaxExtraRuns; ++runs) {
    auto report = Look(claim, exact);
    if (!report || report->need == ParityNeed::kNothing) return report;
    const auto recorded = Record(*report);
    if (recorded) continue;
    if (recorded.error().code == ErrorCode::kInterrupted) return Unexpected{recorded.error()};
    return CannotTell(recorded.error().message);
  }
  return CannotTell("the runs that would decide do not agree with each other");
}

Result<ParityReport> AskWhetherSame(const SameQuestion& question) {
  const auto say = [&](std::string_view what) {
    if (question.on_run) question.on_run(what);
  };
  auto parity = TrainingParity::Make(question.plan, [&](const ParityOptions& options) {
    say(StrCat("the command as it is, once more (", options.role, ")"));
    return RunForRecording(question.a, options);
  });
  GAPLESS_TRY(parity);
  say("the command as it is");
  GAPLESS_ASSIGN(const auto a, RunForRecording(question.a, parity->BaselineOptions()));
  if (!parity->WhyNoBaseline().empty()) return CannotTell(StrCat(parity->WhyNoBaseline(), AgentWords(a)));
  say("the changed command");
  GAPLESS_ASSIGN(const auto b, RunForRecording(question.b, parity->CandidateOptions()));
  auto report = parity->Judge(question.claim, question.exact);
  if (report && report->verdict == ParityVerdict::kCannotTell) report->reason += AgentWords(b);
  return report;
}

Result<void> AskWhetherSame(const PairPlan& plan, Comparison& comparison) {
  if (comparison.pairs() == 0 || comparison.a()[0].source != SampleSource::kSteps) return {};
  GAPLESS_ASSIGN(auto report, AskWhetherSame({.a = plan.a, .b = plan.b, .on_run = plan.on_same}));
  comparison.SetTraining(std::move(report));
  return {};
}

}  // namespace gapless::internal
