// SPDX-License-Identifier: Apache-2.0
// Writes `gapless predict --json`; the schema has the fields' meanings. Shares are of the recorded step: 0.5
// is twice as fast. A speedup is 1 / share, so its interval is the share's with the ends exchanged.
#include "base/described_json.h"
#include "base/strings.h"
#include "report/predict/report.h"

namespace gapless::internal {

template <>
inline constexpr int64_t kValuesOf<Safety> = static_cast<int64_t>(Safety::kQuantized) + 1;
template <>
inline constexpr int64_t kValuesOf<Machine> = static_cast<int64_t>(Machine::kHost) + 1;

template <>
struct Described<StepShares> {
  static constexpr FieldInfo kFields[] = {
      Field<&StepShares::low>("low", "ratio", "lower end of the 80 % prediction interval"),
      Field<&StepShares::expected>("expected", "ratio", "expected value"),
      Field<&StepShares::high>("high", "ratio", "upper end of the interval"),
  };
};

template <>
struct Described<Response> {
  static constexpr FieldInfo kFields[] = {
      Field<&Response::what>("what", "", "change of the recording that was replayed"),
      Field<&Response::share>("share", "", "replayed step, as a fraction of the recorded one"),
      Field<&Response::low>("low", "", "what it must be at least"),
      Field<&Response::high>("high", "", "what it may be at most"),
  };
};

template <>
struct Described<PathShare> {
  static constexpr FieldInfo kFields[] = {
      Field<&PathShare::name>("name", "", "owner"),
      Field<&PathShare::ns>("ns", "ns", "time of the path that is its own"),
      Field<&PathShare::parts>("parts", "count", "stretches of the path"),
  };
};

namespace documents {

// A step after the fix, in ns.
struct PredictedStep {
  int64_t low = 0, expected = 0, high = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&PredictedStep::low>("low", "ns", "lower end of the 80 % prediction interval"),
      Field<&PredictedStep::expected>("expected", "ns", "expected duration"),
      Field<&PredictedStep::high>("high", "ns", "upper end of the interval"),
  };
};

// A TestedKind says how predictions of one item came out on machines of this kind; the median error is absent without
// tests.
struct TestedKind {
  std::string kind{};
  Machine machine = Machine::kHost;
  int64_t programs = 0;
  std::optional<double> within_share{};
  static constexpr FieldInfo kFields[] = {
      Field<&TestedKind::kind>("kind", "", "name of the what-if"),
      Field<&TestedKind::machine>("machine", "", "kind of machine on which it was tested"),
      Field<&TestedKind::programs>("programs", "count", "programs on which it was tested"),
      Field<&TestedKind::within_share>(
          "within_share", "share",
          "half of its predictions were at most so far from what was measured; missing: none was tested"),
  };
};

struct Freed {
  std::string what{};
  int64_t freed_bytes = 0, peak_bytes = 0;
  bool at_most = false;
  std::optional<int64_t> modules{};
  std::string source_line{};
  static constexpr FieldInfo kFields[] = {
      Field<&Freed::what>("what", "", "item of --what, applied alone"),
      Field<&Freed::freed_bytes>("freed_bytes", "bytes", "what it frees at the peak"),
      Field<&Freed::peak_bytes>("peak_bytes", "bytes", "what is in use at the peak"),
      Field<&Freed::at_most>("at_most", "", "it frees no more than that; else about as much"),
      Field<&Freed::modules>("modules", "count", "calls of modules that are computed again"),
      Field<&Freed::source_line>("source_line", "", "line that calls those that free most", kUnlessEmpty),
  };
};

// A prediction is complete if it has no `reason`; with a reason it has its memory at most.
struct Predicted {
  std::vector<std::string> what{};
  std::string reason{};
  std::optional<PredictedStep> step_ns{};
  std::optional<StepShares> speedup{}, model{};
  std::optional<double> work{};
  std::optional<Safety> safety{};
  std::optional<std::vector<std::string>> assumptions{}, no_effect{};
  std::optional<std::vector<TestedKind>> tested{};
  std::optional<std::vector<Freed>> memory{};
  static constexpr FieldInfo kFields[] = {
      Field<&Predicted::what>("what", "", "items of --what, applied together"),
      Field<&Predicted::reason>("reason", "", "why there is no prediction", kUnlessEmpty),
      Field<&Predicted::step_ns>("step_ns", "", "duration of a step afterwards"),
      Field<&Predicted::speedup>("speedup", "", "step before / step afterwards"),
      Field<&Predicted::model>("model", "", "step afterwards as a fraction of the one before, by the model alone"),
      Field<&Predicted::work>("work", "ratio", "work of a step afterwards; missing: as before"),
      Field<&Predicted::safety>("safety", "", "what may change beside the time"),
      Field<&Predicted::assumptions>("assumptions", "", "what the models assume"),
      Field<&Predicted::no_effect>("no_effect", "", "items without effect, and why"),
      Field<&Predicted::tested>("tested", "", "how predictions of such items were tested"),
      Field<&Predicted::memory>("memory", "", "what items free, where a memory snapshot says what lives at the peak"),
  };
};

// The measured step beside the prediction; error and verdict are absent if there is no prediction.
struct MeasuredStep {
  int64_t step_ns = 0;
  double speedup = 1;
  std::optional<double> error_share{};
  std::optional<bool> within{};
  static constexpr FieldInfo kFields[] = {
      Field<&MeasuredStep::step_ns>("step_ns", "ns", "measured duration of a step"),
      Field<&MeasuredStep::speedup>("speedup", "ratio", "measured speed-up"),
      Field<&MeasuredStep::error_share>("error_share", "", "predicted / measured duration - 1"),
      Field<&MeasuredStep::within>("within", "", "the measured value lies in the interval"),
  };
};

// The critical path of one rank, divided by what it is bound by and by whom it belongs to.
struct CriticalTime {
  int64_t total_ns = 0;
  std::vector<std::pair<std::string, int64_t>> by_bound{};
  std::vector<PathShare> by_operator{}, by_kernel{}, by_module{}, by_thread{}, by_stream{}, by_collective{};
  static constexpr FieldInfo kFields[] = {
      Field<&CriticalTime::total_ns>("total_ns", "ns", "duration of the steps"),
      Field<&CriticalTime::by_bound>("by_bound", "ns", "what the time is spent on"),
      Field<&CriticalTime::by_operator>("by_operator", "", "by operator"),
      Field<&CriticalTime::by_kernel>("by_kernel", "", "by kernel"),
      Field<&CriticalTime::by_module>("by_module", "", "by module"),
      Field<&CriticalTime::by_thread>("by_thread", "", "by thread"),
      Field<&CriticalTime::by_stream>("by_stream", "", "by stream"),
      Field<&CriticalTime::by_collective>("by_collective", "", "by collective"),
  };
};

// A part of the step at each of the sweep's costs.
struct CheaperPart {
  std::string name{};
  int64_t time_ns = 0;
  std::vector<double> step_shares{};
  static constexpr FieldInfo kFields[] = {
      Field<&CheaperPart::name>("name", "", "kernel, operator or thread"),
      Field<&CheaperPart::time_ns>("time_ns", "ns", "its own time a step"),
      Field<&CheaperPart::step_shares>("step_shares", "", "step at each cost, as a fraction of the recorded one"),
  };
};

// The sweep: every part has a share for each cost.
struct Sweep {
  std::string_view by{};
  std::vector<double> costs{kSweepCosts.begin(), kSweepCosts.end()};
  std::vector<CheaperPart> parts{};
  static constexpr FieldInfo kFields[] = {
      Field<&Sweep::by>("by", "", "what gets cheaper"),
      Field<&Sweep::costs>("costs", "share", "its cost, as a fraction of the recorded one"),
      Field<&Sweep::parts>("parts", "", "those that take the most time"),
  };
};

// A value of a job with another number of ranks; what is missing is not known.
struct ScaledStep {
  std::optional<int64_t> low{}, expected{}, high{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScaledStep::low>("low", "ns", "lower end of the 80 % prediction interval; missing: not known"),
      Field<&ScaledStep::expected>("expected", "ns", "expected duration; missing: not known"),
      Field<&ScaledStep::high>("high", "ns", "upper end of the interval; missing: not known"),
  };
};
struct ScaledEfficiency {
  std::optional<double> low{}, expected{}, high{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScaledEfficiency::low>("low", "ratio", "lower end of the 80 % prediction interval; missing: not known"),
      Field<&ScaledEfficiency::expected>("expected", "ratio", "expected value; missing: not known"),
      Field<&ScaledEfficiency::high>("high", "ratio", "upper end of the interval; missing: not known"),
  };
};
struct ScaledPoint {
  int64_t ranks = 0, nodes = 0;
  ScaledStep step_ns{};
  ScaledEfficiency efficiency{};
  std::string unknown{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScaledPoint::ranks>("ranks", "count", "ranks of the simulated job"),
      Field<&ScaledPoint::nodes>("nodes", "count", "nodes that they fill"),
      Field<&ScaledPoint::step_ns>("step_ns", "", "duration of a step, with the recorded batch for each rank"),
      Field<&ScaledPoint::efficiency>("efficiency", "", "step of the fewest ranks over this one"),
      Field<&ScaledPoint::unknown>("unknown", "", "why a value is missing", kUnlessEmpty),
  };
};

// The recorded job with other numbers of ranks.
struct ScaledOut {
  int64_t recorded_ranks = 0, ranks_per_node = 0;
  bool sharded = false;
  int64_t latency_ns = 0;
  std::optional<double> bus_gbps{};
  std::vector<ScaledPoint> points{};
  std::vector<std::string> assumptions{};
  static constexpr FieldInfo kFields[] = {
      Field<&ScaledOut::recorded_ranks>("recorded_ranks", "count", "ranks of the recorded job"),
      Field<&ScaledOut::ranks_per_node>("ranks_per_node", "count", "ranks that share a node"),
      Field<&ScaledOut::sharded>("sharded", "", "parameters are sharded over the ranks"),
      Field<&ScaledOut::latency_ns>("latency_ns", "ns", "a recorded collective besides its bytes"),
      Field<&ScaledOut::bus_gbps>("bus_gbps", "GB/s", "bus bandwidth of the recorded collectives"),
      Field<&ScaledOut::points>("points", "", "one for each number of ranks"),
      Field<&ScaledOut::assumptions>("assumptions", "", "what the simulation assumes"),
  };
};

// The whole document. If the recording was not accepted, predictions have their memory alone, if that is known; the
// self-check says why.
struct Predict {
  bool accepted = false;
  std::string reason{};
  std::optional<double> replay_error_share{};
  std::optional<int64_t> step_ns{}, ranks{};
  int64_t all_ranks = 0;
  std::optional<int64_t> steps{}, steps_replayed{}, replayed_ns{};
  std::string ranks_apart_reason{};
  std::vector<Response> self_check{};
  std::vector<Predicted> predictions{};
  std::optional<MeasuredStep> measured{};
  std::optional<CriticalTime> critical_path{};
  std::optional<Sweep> sweep{};
  std::optional<ScaledOut> scale{};
  static constexpr FieldInfo kFields[] = {
      Field<&Predict::accepted>("accepted", "", "the recording may be used to predict"),
      Field<&Predict::reason>("reason", "", "why it may not", kUnlessEmpty),
      Field<&Predict::replay_error_share>(
          "replay_error_share", "", "error of the replay, as a fraction of the step; missing: nothing can be replayed"),
      Field<&Predict::step_ns>("step_ns", "ns", "recorded duration of a step; missing: as above"),
      Field<&Predict::steps>("steps", "count", "recorded steps; missing: all are replayed"),
      Field<&Predict::steps_replayed>("steps_replayed", "count", "steps that stand for all; missing: all are replayed"),
      Field<&Predict::replayed_ns>("replayed_ns", "ns", "recorded time that stands for all; missing: all is replayed"),
      Field<&Predict::ranks>("ranks", "count", "ranks that are replayed together; missing: as above"),
      Field<&Predict::all_ranks>("all_ranks", "count", "recorded ranks; missing: each is replayed, or one alone",
                                 kUnlessEmpty),
      Field<&Predict::ranks_apart_reason>("ranks_apart_reason", "", "why only one rank is replayed", kUnlessEmpty),
      Field<&Predict::self_check>("self_check", "", "replays whose result is known within bounds"),
      Field<&Predict::predictions>("predictions", "", "one for each --what"),
      Field<&Predict::measured>("measured", "", "the run with the fix; with --measured"),
      Field<&Predict::critical_path>("critical_path", "", "longest chain of work through the steps"),
      Field<&Predict::sweep>("sweep", "", "steps with cheaper parts; with --sweep"),
      Field<&Predict::scale>("scale", "", "steps with other numbers of ranks; with --scale"),
  };
};

// An entry of --list.
struct KnownWhatIf {
  std::string_view name{}, value{};
  Safety safety = Safety::kExact;
  std::string_view help{};
  static constexpr FieldInfo kFields[] = {
      Field<&KnownWhatIf::name>("name", "", "item of --what"),
      Field<&KnownWhatIf::value>("value", "", "the value that it takes", kUnlessEmpty),
      Field<&KnownWhatIf::safety>("safety", "", "what may change beside the time"),
      Field<&KnownWhatIf::help>("help", "", "the change in a line"),
  };
};

}  // namespace documents

namespace {

using namespace documents;

ScaledOut ScaledOutOf(const ScaleOut& scale) {
  ScaledOut document{.recorded_ranks = scale.recorded,
                     .ranks_per_node = scale.per_node,
                     .sharded = scale.is_sharded,
                     .latency_ns = std::llround(scale.latency_ns),
                     .assumptions = scale.assumptions};
  if (scale.bus_gbps > 0) document.bus_gbps = scale.bus_gbps;
  const auto in_ns = [](const std::optional<double>& ns) {
    return ns ? std::optional<int64_t>(std::llround(*ns)) : std::nullopt;
  };
  for (const ScalePoint& point : scale.points)
    document.points.push_back(
        {.ranks = point.ranks,
         .nodes = point.nodes,
         .step_ns = {in_ns(point.step_ns.low), in_ns(point.step_ns.expected), in_ns(point.step_ns.high)},
         .efficiency = {point.efficiency.low, point.efficiency.expected, point.efficiency.high},
         .unknown = point.unknown});
  return document;
}

// Describes a prediction, or gives the reason why it cannot be made.
Predicted PredictedOf(const Predictor* of, const Prediction& prediction) {
  Predicted predicted{.reason = prediction.refusal};
  for (const WhatIfItem& item : prediction.what) predicted.what.push_back(item.ToString());
  if (!prediction.memory.empty()) predicted.memory.emplace();
  for (const FreedMemory& one : prediction.memory)
    predicted.memory->push_back({one.what, one.freed_bytes, one.peak_bytes, one.at_most, one.modules, one.source_line});
  // An item that cannot be predicted has nothing else but its reason.
  if (!prediction.refusal.empty()) return predicted;
  const Predictor& predictor = *of;
  const StepShares& share = prediction.share;
  predicted.step_ns = {StepNs(predictor, share.low), StepNs(predictor, share.expected), StepNs(predictor, share.high)};
  predicted.speedup = {.low = 1 / share.high, .expected = 1 / share.expected, .high = 1 / share.low};
  predicted.model = prediction.model;
  // The work of a step is part of the document only where a fix changes it, such as a larger batch.
  if (prediction.work != 1) predicted.work = prediction.work;
  predicted.safety = prediction.safety;
  predicted.assumptions = prediction.assumptions;
  predicted.no_effect = prediction.no_effect;
  predicted.tested.emplace();
  for (const WhatIfItem& item : prediction.what) {
    const auto tested = predictor.calibration().TestedOf(item.name);
    predicted.tested->push_back(
        {std::string(item.name), predictor.machine(), static_cast<int64_t>(tested.programs), tested.within});
  }
  return predicted;
}

// Compares the measurement with the first prediction, which is the only one.
MeasuredStep MeasuredOf(const PredictView& view) {
  const Prediction& prediction = view.predictions[0];
  MeasuredStep measured{.step_ns = StepNs(*view.predictor, *view.measured), .speedup = 1 / *view.measured};
  if (!prediction.refusal.empty()) return measured;
  measured.error_share = prediction.share.expected / *view.measured - 1;
  measured.within = IsWithin(prediction.share, *view.measured);
  return measured;
}

// Time without an owner of a kind is in none of its rows, so that rows need not add up to the whole path.
CriticalTime CriticalTimeOf(const DividedPath& divided) {
  const auto by = [&](PathOwner owner) { return divided.by_owner[static_cast<size_t>(owner)]; };
  CriticalTime time{.total_ns = divided.path.total_ns,
                    .by_operator = by(PathOwner::kOperator),
                    .by_kernel = by(PathOwner::kKernel),
                    .by_module = by(PathOwner::kModule),
                    .by_thread = by(PathOwner::kThread),
                    .by_stream = by(PathOwner::kStream),
                    .by_collective = by(PathOwner::kCollective)};
  for (size_t bound = 0; bound < kBounds; ++bound)
    time.by_bound.emplace_back(NameOf(static_cast<Bound>(bound)), divided.path.by_bound[bound]);
  return time;
}

documents::Sweep SweepOf(const PredictView& view) {
  documents::Sweep sweep{.by = view.sweep_by};
  for (const SweptPart& part : view.sweep)
    sweep.parts.push_back({part.name, part.time_ns, {part.shares.begin(), part.shares.end()}});
  return sweep;
}

}  // namespace

constinit const TypeInfo kPredictDocument = describe::MakeType<Predict>();
constinit const TypeInfo kWhatIfsDocument = describe::MakeType<std::vector<KnownWhatIf>>();

namespace {

Predict DocumentOfReplay(const Predictor& predictor) {
  const SelfCheck& check = predictor.check();
  Predict document{.accepted = check.accepted(),
                   .reason = check.refusal,
                   .replay_error_share = check.error,
                   .step_ns = predictor.step_ns(),
                   .ranks = static_cast<int64_t>(predictor.job().ranks.size()),
                   .ranks_apart_reason = predictor.why_not_together(),
                   .self_check = {check.responses.begin(), check.responses.end()}};
  if (predictor.all_ranks() > predictor.job().ranks.size() && predictor.why_not_together().empty())
    document.all_ranks = static_cast<int64_t>(predictor.all_ranks());
  if (const auto& typical = predictor.typical_steps()) {
    document.replayed_ns = typical->replayed_ns;
    if (typical->all_steps > 0)
      document.steps = static_cast<int64_t>(typical->all_steps),
      document.steps_replayed = static_cast<int64_t>(typical->row.count);
  }
  return document;
}

}  // namespace

std::string PredictJson(const PredictView& view) {
  Predict document{.reason = view.why_not};
  if (view.predictor != nullptr) document = DocumentOfReplay(*view.predictor);
  for (const Prediction& prediction : view.predictions)
    document.predictions.push_back(PredictedOf(view.predictor, prediction));
  if (view.measured) document.measured = MeasuredOf(view);
  if (view.path) document.critical_path = CriticalTimeOf(*view.path);
  if (!view.sweep.empty()) document.sweep = SweepOf(view);
  if (view.scale) document.scale = ScaledOutOf(*view.scale);
  std::vector<std::string> warnings;
  if (!document.ranks_apart_reason.empty()) warnings.push_back(document.ranks_apart_reason);
  return DocumentOf("predict", document, warnings);
}

// The list has no header, unlike every other document: it is a bare array.
std::string WhatIfsJson() {
  std::vector<KnownWhatIf> known;
  for (const Fix* fix : FixesWithModel()) known.push_back({fix->name, fix->model.value, fix->safety, fix->help});
  std::string out;
  JsonWriter json(out, 2);
  WriteJson(json, known);
  return out + "\n";
}

}  // namespace gapless::internal
