// SPDX-License-Identifier: Apache-2.0
// Simulates a recorded data-parallel job with other numbers of ranks.
//
// For each rank of the job it is known once: the kind and step of each edge of its graph, the work of its device and
// host in each step, and its collectives. A simulation draws the work of every copy in every step, scales the edges of
// the copied graph to it, sets the transfers, and replays all copies together. Draws of a copy depend on its place
// alone, so that a job of 32 ranks has the first 16 of one of 16.
#include "predict/scale_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "analyses/bandwidth.h"
#include "base/strings.h"
#include "predict/rank_spread.h"
#include "predict/scale_originals.h"

namespace gapless::internal {
namespace {

constexpr double kOfEighty = 1.2815515655446004;  // deviations of a normal value that 80 % are within
constexpr double kLatencyDeviation = 0.3, kUnfittedLatencyDeviation = 0.55;  // of its logarithm
constexpr double kMostGrowth = 1.5;                                          // power of the depth of a tree
constexpr double kNodeLatency = 2, kNodeLatencyDeviation = 0.4;              // beyond a node
constexpr double kLeastSlopeDeviation = 0.02;                                // of the bandwidth's logarithm
constexpr double kMostVisits = 2e9;                                          // edges that all simulations visit
constexpr double kMostBytes = 12e9;                                          // that one simulation takes
constexpr size_t kFewestSteps = 4;
constexpr double kMostFaster = 0.2;        // least share of its work that a copy does
constexpr int64_t kLargeGather = 1 << 16;  // bytes; smaller ones are no parameters

// Factors on the deviations of a spread.
struct SpreadTimes {
  double ranks = 1, rest = 1;
};

// Draws of one simulation that hold for all of its ranks.
struct Circumstances {
  double latency_ns = 0, growth = 1, node_latency = 1, slope = 1;  // slope: factor on the time per byte
  double ranks = 1, device = 1, host = 1;  // factors on the deviations of ranks, and of the rest
  uint64_t seed = 0;
  size_t first = 0;  // the rank that the first copy is one of
};

int64_t LatestOf(std::span<const int64_t> times, const std::vector<Instant>& instants) {
  int64_t latest = 0;
  for (const Instant instant : instants) latest = std::max(latest, times[instant]);
  return latest;
}

double Mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double Deviation(std::span<const double> values) {
  double sum = 0;
  const double mean = Mean(values);
  for (const double value : values) sum += (value - mean) * (value - mean);
  return values.size() > 1 ? std::sqrt(sum / static_cast<double>(values.size() - 1)) : 0;
}

class ScaleSimulation {
 public:
  ScaleSimulation(const Predictor& predictor, const ScaleOutOptions& options)
      : predictor_(predictor), options_(options), job_(predictor.job()) {}

  Result<ScaleOut> Run() {
    GAPLESS_TRY(Learn());
    GAPLESS_TRY(CheckSize());
    std::vector<std::vector<double>> logs(options_.counts.size());  // of the steps of all simulations
    double visits = 0;
    for (const int ranks : options_.counts) visits += static_cast<double>(ranks) * EdgesOfRank();
    const auto simulations =
        static_cast<size_t>(std::clamp(kMostVisits / visits, double{kFewestSimulations}, double{kMostSimulations}));
    for (size_t i = 0; i < simulations; ++i) {
      const Circumstances drawn = Draw(i);
      for (size_t at = 0; at < options_.counts.size(); ++at) {
        const auto step_ns = Simulate(options_.counts[at], drawn);
        if (!step_ns) return Fail(ErrorCode::kInput, "the collectives of the simulated ranks contradict each other");
        logs[at].push_back(std::log(std::max(1.0, *step_ns)));
      }
    }
    Conclude(logs);
    return std::move(out_);
  }

 private:
  Result<void> Learn();
  Result<void> LearnTransfers(size_t rank);
  void LearnNodes();
  Result<void> CheckSize() const;
  double EdgesOfRank() const;
  Circumstances Draw(size_t simulation) const;
  Result<void> LearnScale();
  std::optional<double> Simulate(int ranks, const Circumstances& drawn) const;
  std::optional<double> ReplayedNs(const std::vector<uint32_t>& copy_of,
                                   const std::vector<std::vector<int64_t>>& edges) const;
  double StepOf(size_t rank, std::span<const int64_t> times) const;
  std::vector<double> FactorsOf(size_t place, size_t base, const RankSpread& spread, SpreadTimes times,
                                const std::vector<double>& own_ns, double mean_ns, uint64_t seed) const;
  std::vector<int64_t> EdgesOf(size_t place, size_t base, int ranks, const Circumstances& drawn) const;
  double TransferNs(const Transfer& transfer, int ranks, const Circumstances& drawn) const;
  bool Crosses(int ranks) const { return ranks > out_.per_node; }
  void Conclude(const std::vector<std::vector<double>>& logs);
  void SayUnknown(ScalePoint& point) const;
  void Assume();

  const Predictor& predictor_;
  const ScaleOutOptions& options_;
  Job job_;  // with stops of its own where one rank was recorded
  std::vector<Original> originals_{};
  std::vector<int64_t> steps_{};
  RankSpread device_{}, host_{};
  double device_mean_ns_ = 0, host_mean_ns_ = 0;
  double scale_ = 1;  // recorded step over the replayed one
  LinkSpeed link_{};
  double slope_deviation_ = kLeastSlopeDeviation;
  bool nodes_known_ = true;
  ScaleOut out_{};
};

Result<void> ScaleSimulation::Learn() {
  if (predictor_.all_ranks() > job_.ranks.size() && predictor_.why_not_together().empty())
    return Fail(ErrorCode::kInput, "some ranks stand for others: how much ranks differ is not known", "",
                "replay all of them with --all-steps");
  steps_ = CommonSteps(job_);
  if (steps_.size() < kFewestSteps)
    return Fail(
        ErrorCode::kInput,
        StrCat("the ranks have ", steps_.size(), " complete steps in common: how much steps differ is not known"), "",
        StrCat("record at least ", kFewestSteps, " steps"));
  std::vector<std::vector<double>> device, host;
  for (size_t rank = 0; rank < job_.ranks.size(); ++rank) {
    originals_.push_back(OriginalOf(job_.ranks[rank], predictor_.Unfixed().times[rank].ns(), steps_));
    GAPLESS_TRY(LearnTransfers(rank));
    device.push_back(originals_.back().device_ns), host.push_back(originals_.back().host_ns);
  }
  device_ = SpreadOf(device), host_ = SpreadOf(host);
  for (size_t rank = 0; rank < device.size(); ++rank) {
    device_mean_ns_ += Mean(device[rank]) / static_cast<double>(device.size());
    host_mean_ns_ += Mean(host[rank]) / static_cast<double>(host.size());
  }
  LearnNodes();
  return LearnScale();
}

// A rank that was recorded alone meets its copies in each of its collectives.
Result<void> ScaleSimulation::LearnTransfers(size_t at) {
  RankGraph& rank = job_.ranks[at];
  const Trace& trace = *rank.of->trace;
  const Collectives found = FindCollectives({*rank.of, predictor_.tables()});
  if (std::string why = WhyNotEven(trace, found, out_.recorded); !why.empty())
    return Fail(ErrorCode::kInput, std::move(why));
  const bool alone = job_.ranks.size() == 1;
  std::map<uint32_t, int64_t> meets;  // by operation: its collective
  for (const Stop& stop : rank.stops) meets[stop.at] = stop.meeting;
  std::vector<double> off;
  for (const Collective& one : found.all) {
    const Instant begin = rank.graph.op_begin[one.op];
    if (begin == kNoInstant || trace.collectives.group_size[one.row] == 1) continue;
    const std::string_view kind = trace.Text(trace.collectives.kind[one.row]);
    if (kind == "all_gather" && one.bytes >= kLargeGather) out_.is_sharded = true;
    const auto meeting = meets.find(begin);
    if (!alone && meeting == meets.end()) continue;  // nobody else was recorded in it
    const uint32_t edge = rank.graph.OpEdge(one.op);
    const double ns = alone ? static_cast<double>(one.wire_ns) : static_cast<double>(rank.edge_ns[edge]);
    originals_[at].transfers.push_back({.edge = edge,
                                        .meeting = alone ? 0 : static_cast<uint32_t>(meeting->second),
                                        .ns = ns,
                                        .bytes = static_cast<double>(one.bytes),
                                        .bus_bytes = one.bus_bytes,
                                        .kind = kind});
    off.push_back(std::log(std::max(1.0, ns) / (found.link.latency_ns + one.bus_bytes * found.link.ns_per_byte + 1)));
    if (!alone) continue;
    const auto number = static_cast<uint32_t>(job_.meeting_sizes.size());
    job_.meeting_sizes.push_back(1);
    rank.stops.push_back({.at = begin, .meeting = number});
    rank.stops.push_back({.at = rank.graph.op_end[one.op], .meeting = number, .is_end = true});
  }
  std::ranges::stable_sort(rank.stops, {}, [](const Stop& stop) { return stop.at; });
  if (at == 0) {
    link_ = found.link;
    const double sizes = std::max(1.0, std::sqrt(static_cast<double>(off.size()) / 2));
    slope_deviation_ = std::max(kLeastSlopeDeviation, Deviation(off) / sizes);
  }
  return {};
}

void ScaleSimulation::LearnNodes() {
  std::map<std::string, int> hosts;
  size_t devices = 0;
  for (const RankGraph& rank : job_.ranks) {
    ++hosts[rank.of->trace->info.host];
    devices = std::max(devices, rank.of->trace->devices.size());
  }
  const bool all = static_cast<int>(job_.ranks.size()) == out_.recorded && !hosts.contains("");
  nodes_known_ = options_.per_node || all;
  int most = 0;
  for (const auto& [host, ranks] : hosts) most = std::max(most, ranks);
  out_.per_node = options_.per_node.value_or(!all               ? out_.recorded
                                             : hosts.size() > 1 ? most
                                                                : std::max(most, static_cast<int>(devices)));
  out_.latency_ns = link_.latency_ns;
  out_.bus_gbps = link_.ns_per_byte > 0 ? 1 / link_.ns_per_byte : 0;
}

double ScaleSimulation::EdgesOfRank() const {
  size_t most = 0;
  for (const RankGraph& rank : job_.ranks) most = std::max(most, rank.graph.edges.size());
  return static_cast<double>(most);
}

Result<void> ScaleSimulation::CheckSize() const {
  const double bytes = EdgesOfRank() * 2 * sizeof(int64_t) * options_.counts.back();
  if (bytes <= kMostBytes) return {};
  return Fail(ErrorCode::kInput,
              StrCat("simulating ", options_.counts.back(), " ranks of this recording takes ",
                     FormatNumber(bytes / 1e9, 0), " GB of memory"),
              "", "simulate fewer ranks, or take a recording of fewer steps");
}

// The first simulation has nothing but expected values for what is not known.
Circumstances ScaleSimulation::Draw(size_t simulation) const {
  NormalDraws draws(options_.seed * 1'000'003 + simulation);
  const double latency = link_.is_fitted ? kLatencyDeviation : kUnfittedLatencyDeviation;
  // The deviation of few values is uncertain by 1 / √(2 × degrees of freedom).
  const auto of_spread = [&](const RankSpread& spread) {
    return std::exp(draws.Normal() / std::sqrt(2 * std::max(1.0, spread.rest_freedom)));
  };
  Circumstances drawn;
  drawn.latency_ns = link_.latency_ns * std::exp(latency * draws.Normal());
  drawn.growth = kMostGrowth * draws.Uniform();
  drawn.node_latency = kNodeLatency * std::exp(kNodeLatencyDeviation * draws.Normal());
  drawn.slope = std::exp(slope_deviation_ * draws.Normal());
  drawn.ranks = std::exp(draws.Normal() / std::sqrt(2 * std::max(1.0, static_cast<double>(job_.ranks.size()) - 1)));
  drawn.device = of_spread(device_), drawn.host = of_spread(host_);
  drawn.seed = options_.seed * 7'919 + simulation;
  drawn.first = simulation;
  return drawn;
}

// Returns what the recorded transfer takes with so many ranks.
double ScaleSimulation::TransferNs(const Transfer& transfer, int ranks, const Circumstances& drawn) const {
  if (ranks == 1) return 0;
  const double latency = std::min(drawn.latency_ns, transfer.ns), slope = link_.ns_per_byte;
  const double recorded_ns = latency + transfer.bus_bytes * slope;
  double latency_ns = latency * std::pow(std::log2(ranks) / std::log2(out_.recorded), drawn.growth);
  const double bus_bytes = transfer.bytes * BusFactor(transfer.kind, ranks);
  double slope_ns = slope;
  if (Crosses(ranks) && !Crosses(out_.recorded)) {
    latency_ns *= drawn.node_latency;
    if (options_.link_gbps) slope_ns = std::max(slope, 1 / *options_.link_gbps);
  }
  const double factor = ranks == out_.recorded ? 1 : drawn.slope;
  const double now_ns = latency_ns + bus_bytes * slope_ns * factor;
  return recorded_ns > 0 ? transfer.ns * now_ns / recorded_ns : transfer.ns;
}

// Returns for each step by how much a copy takes longer than the rank it is a copy of.
std::vector<double> ScaleSimulation::FactorsOf(size_t place, size_t base, const RankSpread& spread, SpreadTimes times,
                                               const std::vector<double>& own_ns, double mean_ns, uint64_t seed) const {
  NormalDraws draws(seed * 1'048'583 + place);
  const double drawn = spread.DrawRank(draws, times.ranks);
  const double rank_own = place < job_.ranks.size() ? spread.rank_own[base] : drawn;
  std::vector<double> factors(steps_.size(), 1);
  for (size_t step = 0; step + 1 < steps_.size(); ++step) {
    const double rest = spread.DrawRest(draws, times.rest);
    const double work = std::max(kMostFaster, 1 + rank_own + spread.step_own[step] + rest);
    if (own_ns[step] > 0) factors[step + 1] = work * mean_ns / own_ns[step];
  }
  return factors;
}

std::vector<int64_t> ScaleSimulation::EdgesOf(size_t place, size_t base, int ranks, const Circumstances& drawn) const {
  const Original& of = originals_[base];
  const std::vector<double> device =
      FactorsOf(place, base, device_, {drawn.ranks, drawn.device}, of.device_ns, device_mean_ns_, 2 * drawn.seed);
  const std::vector<double> host =
      FactorsOf(place, base, host_, {drawn.ranks, drawn.host}, of.host_ns, host_mean_ns_, 2 * drawn.seed + 1);
  const double shard = out_.is_sharded ? static_cast<double>(out_.recorded) / ranks : 1;
  std::vector<int64_t> edge_ns = predictor_.Unfixed().times[base].ns();
  for (size_t edge = 0; edge < edge_ns.size(); ++edge) {
    const EdgeWork work = of.work[edge];
    if (work == EdgeWork::kNone || edge_ns[edge] <= 0) continue;
    const int32_t step = of.step[edge];
    double factor = step < 0 ? 1 : (work == EdgeWork::kHost ? host : device)[static_cast<size_t>(step)];
    if (work == EdgeWork::kOptimizer) factor *= shard;
    edge_ns[edge] = std::llround(static_cast<double>(edge_ns[edge]) * factor);
  }
  for (const Transfer& transfer : of.transfers)
    edge_ns[transfer.edge] = std::llround(TransferNs(transfer, ranks, drawn));
  return edge_ns;
}

std::optional<double> ScaleSimulation::Simulate(int ranks, const Circumstances& drawn) const {
  const auto count = static_cast<size_t>(ranks);
  std::vector<uint32_t> copy_of(count);
  std::vector<std::vector<int64_t>> edges(count);
  predictor_.pool().ParallelFor(count, [&](size_t place) {
    const size_t base = (place + drawn.first) % job_.ranks.size();
    copy_of[place] = static_cast<uint32_t>(base);
    edges[place] = EdgesOf(place, base, ranks, drawn);
  });
  return ReplayedNs(copy_of, edges);
}

// Returns the mean step of the copies, from the end of the first step to that of the last: the first one begins when
// recorders do, at different moments.
std::optional<double> ScaleSimulation::ReplayedNs(const std::vector<uint32_t>& copy_of,
                                                  const std::vector<std::vector<int64_t>>& edges) const {
  thread_local std::vector<std::vector<int64_t>> times;
  const std::vector<std::span<const int64_t>> spans(edges.begin(), edges.end());
  if (!ReplayCopies(job_, copy_of, spans, times)) return std::nullopt;
  double sum = 0;
  for (size_t place = 0; place < copy_of.size(); ++place) sum += StepOf(copy_of[place], times[place]);
  return sum / static_cast<double>(copy_of.size());
}

double ScaleSimulation::StepOf(size_t rank, std::span<const int64_t> times) const {
  const Original& of = originals_[rank];
  return static_cast<double>(LatestOf(times, of.ending) - LatestOf(times, of.opening)) /
         static_cast<double>(steps_.size() - 1);
}

// Sets the recorded step over the replayed one. Replayed is what all simulations begin with: without recorders.
Result<void> ScaleSimulation::LearnScale() {
  std::vector<uint32_t> itself;
  std::vector<std::vector<int64_t>> edges;
  double recorded_ns = 0;
  for (size_t rank = 0; rank < job_.ranks.size(); ++rank) {
    itself.push_back(static_cast<uint32_t>(rank));
    edges.push_back(predictor_.Unfixed().times[rank].ns());
    recorded_ns += StepOf(rank, job_.ranks[rank].graph.recorded_ns) / static_cast<double>(job_.ranks.size());
  }
  const auto replayed_ns = ReplayedNs(itself, edges);
  if (!replayed_ns || !(*replayed_ns > 0) || !(recorded_ns > 0))
    return Fail(ErrorCode::kInput, "the recorded steps cannot be told apart: none ends on the device");
  scale_ = static_cast<double>(predictor_.ScaledToMeanStep(std::llround(recorded_ns))) / *replayed_ns;
  return {};
}

void ScaleSimulation::SayUnknown(ScalePoint& point) const {
  const bool crosses = Crosses(point.ranks), did = Crosses(out_.recorded);
  if (crosses == did || (crosses && options_.link_gbps)) return;
  point.unknown = crosses ? StrCat("more than a node of ", out_.per_node, " ranks, over a link of unknown speed")
                          : "within a node, whose links were not recorded alone";
  // Beyond a node nothing gets faster, within one nothing slower.
  ScaleValue& step = point.step_ns;
  ScaleValue& efficiency = point.efficiency;
  step.expected = efficiency.expected = std::nullopt;
  (crosses ? step.high : step.low) = std::nullopt;
  (crosses ? efficiency.low : efficiency.high) = std::nullopt;
}

void ScaleSimulation::Conclude(const std::vector<std::vector<double>>& logs) {
  const double scale = std::log(scale_);
  const double error = predictor_.check().error;
  for (size_t at = 0; at < logs.size(); ++at) {
    std::vector<double> efficiency(logs[at].size());
    for (size_t i = 0; i < efficiency.size(); ++i) efficiency[i] = logs[0][i] - logs[at][i];
    const auto value = [&](std::span<const double> values, double offset, double least) {
      const double expected = Mean(values) + offset, spread = kOfEighty * Deviation(values);
      const double width = std::sqrt(spread * spread + least * least);
      return ScaleValue{std::exp(expected - width), std::exp(expected), std::exp(expected + width)};
    };
    ScalePoint point{.ranks = options_.counts[at],
                     .nodes = (options_.counts[at] + out_.per_node - 1) / out_.per_node,
                     .step_ns = value(logs[at], scale, std::hypot(error, kMinScaleWidth)),
                     .efficiency = value(efficiency, 0, at == 0 ? 0 : kMinScaleWidth)};
    SayUnknown(point);
    // Beside a step that is not known no other has an efficiency.
    if (!out_.points.empty() && !out_.points[0].unknown.empty()) point.efficiency = {};
    out_.points.push_back(std::move(point));
  }
  Assume();
}

void ScaleSimulation::Assume() {
  const auto say = [&](std::string text) { out_.assumptions.push_back(std::move(text)); };
  say("every rank keeps its batch, its loader keeps up, and kernels take as long beside an exchange as they did");
  if (!link_.is_fitted)
    say(StrCat("a collective takes ", FormatDuration(std::llround(link_.latency_ns)),
               " besides its bytes, which one recorded size does not show"));
  if (out_.is_sharded) say("parameters stay sharded over all ranks, and the optimizer works on a shard");
  if (job_.ranks.size() == 1) say("ranks differ as the steps of the recorded one do, and none is slower in all steps");
  if (!nodes_known_)
    say(StrCat("the ", out_.recorded, " ranks of the job share a node, which the recording does not say: --per-node"));
}

}  // namespace

Result<ScaleOut> PredictScaleOut(const Predictor& predictor, const ScaleOutOptions& options) {
  return ScaleSimulation(predictor, options).Run();
}

}  // namespace gapless::internal
