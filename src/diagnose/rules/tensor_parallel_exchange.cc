// SPDX-License-Identifier: Apache-2.0
// The GPUs of one model exchange its activations twice a layer, and nothing computes meanwhile.
//
// With tensor parallelism an iteration cannot go on before each exchange; messages are small in decoding, so that their
// latency counts and not the links' speed. The gain: kernels that exchange within one node in one step, or are fused
// with the normalisation behind them, take two fifths of what NCCL's take at such sizes (expected: three fifths
// go); with fewer ranks to a model nearly all goes (high); at least a tenth. Assumptions.
#include <algorithm>

#include "analyses/rows/communication.h"
#include "analyses/rows/serving_phases.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/serving_view.h"
#include "diagnose/thresholds.h"

namespace gapless::internal::tensor_parallel_exchange_rule {
namespace {

constexpr std::string_view kNeeds[] = {"ledger", "communication", "serving_phases"};

// Exposed time of what tensor parallelism exchanges, over all devices.
struct Exchange {
  int64_t calls = 0, exposed_ns = 0, other_ns = 0;
};

Exchange ExchangeOf(const CommunicationRows& rows) {
  Exchange all;
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (rows.IsNull(row, "kind") || rows.IsNull(row, "exposed_ns")) continue;
    const std::string_view kind = rows.Text(row, "kind");
    const bool is_tensor_parallel = kind == "all_reduce" || kind == "reduce_scatter" || kind == "all_gather";
    (is_tensor_parallel ? all.exposed_ns : all.other_ns) += rows.Int(row, "exposed_ns");
    if (is_tensor_parallel) all.calls += rows.Int(row, "calls");
  }
  return all;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const size_t iterations = tables.Get<ServingPhasesRows>().rows();
  const LedgerView& ledger = ReadLedger(tables);
  const Exchange exchange = ExchangeOf(tables.Get<CommunicationRows>());
  const double share = ledger.Share(exchange.exposed_ns);
  if (iterations == 0 || share < kExposedCommunicationShare || exchange.exposed_ns < exchange.other_ns)
    return std::vector<Bottleneck>{};
  const double each = static_cast<double>(exchange.calls) / static_cast<double>(iterations);
  Bottleneck found;
  found.share_of_step = share;
  found.part_of = "exposed_communication";
  found.title = StrCat("the GPUs of the model exchange activations for ", ledger.CostText(exchange.exposed_ns),
                       ", and nothing computes");
  found.description =
      StrCat("For ", FormatPercent(share),
             " of the time only the exchanges of tensor parallelism run: ", FormatNumber(each, 1), " in an iteration, ",
             FormatDuration(exchange.exposed_ns / std::max<int64_t>(1, exchange.calls)), " each.");
  found.evidence.push_back({.text = StrCat(FormatCounted(exchange.calls, "exchange"), " in ", iterations,
                                           " iterations, exposed for ", FormatDuration(exchange.exposed_ns)),
                            .value = static_cast<double>(exchange.exposed_ns),
                            .unit = "ns",
                            .table = "communication"});
  found.recommendations = {
      {"use the engine's own all-reduce within a node, fused with the normalisation: check that nothing turns it off",
       "",
       "vllm serve MODEL --tensor-parallel-size N   # without --disable-custom-all-reduce; SGLang: "
       "--enable-flashinfer-allreduce-fusion",
       "minutes"},
      {"split the model over fewer GPUs, and run more copies of it, if it fits", "",
       "vllm serve MODEL --tensor-parallel-size 2 --data-parallel-size 4", "minutes"}};
  const auto exposed = static_cast<double>(exchange.exposed_ns);
  found.gain = EstimateGain({.wall_ns = ledger.total.wall_ns,
                             .low_ns = exposed * 0.1,
                             .expected_ns = exposed * 0.6,
                             .high_ns = exposed * 0.95,
                             .confidence = 0.4});
  return std::vector{std::move(found)};
}

}  // namespace

RULE(tensor_parallel_exchange) = {
    .id = "tensor_parallel_exchange",
    .type = BottleneckType::kMultiGpuComm,
    .title = "Exchanges of tensor parallelism run while nothing computes",
    .why =
        "All-reduces, reduce-scatters and all-gathers in a recording with iterations of a serving engine, while no "
        "kernel computes; not where other communication is exposed for longer. Reported at 5 % of the analysed time or "
        "more, as exposed_communication (TraceLens). What a rank waits for others in them is part of it.",
    .saves = "1/10, 3/5, 19/20 of it. Part of exposed_communication",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::tensor_parallel_exchange_rule
