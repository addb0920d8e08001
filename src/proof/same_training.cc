// SPDX-License-Identifier: Apache-2.0
#include "proof/same_training.h"

#include <filesystem>
#include <utility>

#include "base/strings.h"
#include "proof/measure.h"
#include "proof/parity_files.h"

namespace gapless::internal {
namespace {

constexpr size_t kMaxExtraRuns = 8;  // of A, for one decision: two probes, two wide ones, a repeat, three reseeded ones
constexpr int kReseeded = 3;
constexpr std::string_view kBaseline = "baseline", kCandidate = "candidate", kRepeat = "repeat";

std::string NameOfProbe(double noise, bool wide) {
  return StrCat(wide ? "wide-probe-" : "probe-", noise > ProbeNoiseOf(Precision::kFp32) ? "coarse" : "fine");
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

ParityReport CannotTell(std::string reason) {
  return {.verdict = ParityVerdict::kCannotTell, .reason = std::move(reason)};
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
  if (sample && (sample->interrupted || !Succeeded(*sample))) return FailureOf(*sample, request.command);
  return sample;
}

}  // namespace

Result<TrainingParity> TrainingParity::Make(const ParityPlan& plan, RunA run_a) {
  auto folder = TemporaryFolder::Make();
  if (!folder) return Unexpected{folder.error()};
  return TrainingParity(plan, std::move(run_a), std::move(*folder));
}

ParityOptions TrainingParity::OptionsFor(std::string_view role, std::string_view name) const {
  ParityOptions options{.role = std::string(role), .folder = StrCat(folder_.path(), "/", name), .steps = plan_.steps};
  options.seconds = plan_.seconds;
  if (role != kBaseline) options.baseline = StrCat(folder_.path(), "/", kBaseline);
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
  std::filesystem::remove_all(StrCat(folder_.path(), "/", kCandidate), error);
  return OptionsFor(kCandidate, kCandidate);
}

std::string TrainingParity::WhyNoBaseline() const {
  return NamesIn(StrCat(folder_.path(), "/", kBaseline)).empty()
             ? "no optimiser of torch.optim stepped in the command as it is, so there is nothing to compare"
             : "";
}

// Reads the recordings of A that were made since the last time.
Result<void> TrainingParity::Load() {
  for (const std::string& name : NamesIn(folder_.path())) {
    if (name == kCandidate || loaded_[name]) continue;
    loaded_[name] = true;
    for (const std::string& rank : NamesIn(StrCat(folder_.path(), "/", name))) {
      auto recording = ReadParityRecording(StrCat(folder_.path(), "/", name, "/", rank));
      if (!recording) return Unexpected{recording.error()};
      ParityBaseline& known = ranks_[rank];
      const bool wide = name.starts_with("wide-");
      if (name == kBaseline) known.baseline = std::move(*recording);
      else if (name == kRepeat) known.repeat = std::move(*recording);
      else if (name.starts_with("reseeded")) known.reseeded.push_back(std::move(*recording));
      else {
        recording->noise = ProbeNoiseOf(name.ends_with("coarse") ? Precision::kBf16 : Precision::kFp32);
        recording->wide = wide;
        known.probes.push_back(std::move(*recording));
      }
    }
  }
  return {};
}

// Has A run once more as the report needs it.
Result<void> TrainingParity::Record(const ParityReport& report) {
  const bool wide = report.need == ParityNeed::kWideProbe;
  std::vector<ParityOptions> runs;
  if (report.need == ParityNeed::kRepeat) runs.push_back(OptionsFor(kRepeat, kRepeat));
  if (report.need == ParityNeed::kReseeded)
    for (int i = 1; i <= kReseeded; ++i) {
      runs.push_back(OptionsFor("reseeded", StrCat("reseeded-", i)));
      runs.back().reseed = i;
    }
  if (wide || report.need == ParityNeed::kProbe) {
    runs.push_back(OptionsFor("probe", NameOfProbe(report.need_noise, wide)));
    runs.back().noise = report.need_noise;
    runs.back().wide = wide;
  }
  for (const ParityOptions& options : runs) {
    const auto sample = run_a_(options);
    if (!sample) return Unexpected{sample.error()};
    if (NamesIn(options.folder).empty())
      return Fail(ErrorCode::kCommand, StrCat("the run of the command as it is that was to be a ", options.role,
                                              " recorded nothing"), "", AgentWords(*sample));
  }
  return {};
}

Result<ParityReport> TrainingParity::JudgeRanks(std::optional<Precision> claim, bool exact) {
  std::optional<ParityReport> worst;
  for (const auto& [rank, known] : ranks_) {
    const std::string folder = StrCat(folder_.path(), "/", kCandidate, "/", rank);
    ParityRecording candidate;
    if (!NamesIn(folder).empty()) {
      auto recording = ReadParityRecording(folder);
      if (!recording) return Unexpected{recording.error()};
      candidate = std::move(*recording);
    }
    ParityReport report = claim ? DecideParity(known, candidate, *claim, exact) : FindParity(known, candidate);
    if (ranks_.size() > 1 && !report.reason.empty()) report.reason = StrCat(rank, ": ", report.reason);
    const bool asks = report.need != ParityNeed::kNothing;
    if (asks) return report;
    if (!worst || Rank(report.verdict) < Rank(worst->verdict)) worst = std::move(report);
  }
  return worst ? *worst : CannotTell(WhyNoBaseline());
}

Result<ParityReport> TrainingParity::Judge(std::optional<Precision> claim, bool exact) {
  if (std::string why = WhyNoBaseline(); !why.empty()) return CannotTell(std::move(why));
  if (NamesIn(StrCat(folder_.path(), "/", kCandidate)).empty())
    return CannotTell("no optimiser of torch.optim stepped in the changed command");
  for (size_t runs = 0; runs < kMaxExtraRuns; ++runs) {
    GAPLESS_TRY(Load());
    auto report = JudgeRanks(claim, exact);
    if (!report || report->need == ParityNeed::kNothing) return report;
    GAPLESS_TRY(Record(*report));
  }
  return CannotTell("the runs that would tell do not agree with each other");
}

Result<ParityReport> AskWhetherSame(const SameQuestion& question) {
  const auto say = [&](std::string_view what) {
    if (question.on_run) question.on_run(what);
  };
  auto parity = TrainingParity::Make(question.plan, [&](const ParityOptions& options) {
    say(StrCat("the command as it is, once more (", options.role, ")"));
    return RunForRecording(question.a, options);
  });
  if (!parity) return Unexpected{parity.error()};
  say("the command as it is");
  const auto a = RunForRecording(question.a, parity->BaselineOptions());
  if (!a) return Unexpected{a.error()};
  if (!parity->WhyNoBaseline().empty()) return CannotTell(StrCat(parity->WhyNoBaseline(), AgentWords(*a)));
  say("the changed command");
  const auto b = RunForRecording(question.b, parity->CandidateOptions());
  if (!b) return Unexpected{b.error()};
  auto report = parity->Judge(question.claim, question.exact);
  if (report && report->verdict == ParityVerdict::kCannotTell) report->reason += AgentWords(*b);
  return report;
}

Result<void> AskWhetherSame(const PairPlan& plan, Comparison& comparison) {
  if (comparison.pairs() == 0 || comparison.a()[0].source != SampleSource::kSteps) return {};
  auto report = AskWhetherSame({.a = plan.a, .b = plan.b});
  if (!report) return Unexpected{report.error()};
  comparison.SetTraining(std::move(*report));
  return {};
}

}  // namespace gapless::internal
