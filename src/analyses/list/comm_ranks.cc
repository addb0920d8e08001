// SPDX-License-Identifier: Apache-2.0
// Ranks side by side where nothing but communication was recorded (Inspector, Flight Recorder with timed events). A
// collective takes longest on the rank that comes first and shortest on the one that comes last, so durations alone
// say who waited for whom: no clocks are compared.
#include "analyses/rows/comm_ranks.h"

#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/bandwidth.h"
#include "analyses/collective_match.h"
#include "analyses/columns.h"

namespace gapless::internal::comm_ranks_analysis {
namespace {

struct Sum {
  int64_t calls = 0, bytes = kAbsent, total_ns = 0, sized_ns = 0, compared = 0, wait_ns = 0, last = 0, caused_ns = 0;
  double bus_bytes = 0;
};

void Add(const CollectiveTable& all, size_t row, const CollectiveMatch& match, std::string_view kind, Sum& sum) {
  ++sum.calls, sum.total_ns += all.dur_ns[row];
  if (all.bytes[row] != kAbsent) {
    sum.bytes = std::max<int64_t>(sum.bytes, 0) + all.bytes[row];
    sum.sized_ns += all.dur_ns[row];
    sum.bus_bytes += static_cast<double>(all.bytes[row]) * BusFactor(kind, all.group_size[row]);
  }
  if (match.transfer_ns == kAbsent || match.opening) return;
  ++sum.compared, sum.wait_ns += match.wait_ns, sum.last += match.last ? 1 : 0, sum.caused_ns += match.caused_ns;
}

void AddRow(const RunTrace& of, std::string_view kind, const Sum& sum, TableOf<CommRanksRows>& table) {
  auto row = table.Row(of);
  row.Set("kind", kind).Set("calls", sum.calls).Set("bytes", sum.bytes).Set("total_ns", sum.total_ns);
  if (!kind.empty() && sum.sized_ns > 0) row.Set("bus_gbps", sum.bus_bytes / static_cast<double>(sum.sized_ns));
  row.Set("compared", sum.compared);
  if (sum.compared > 0) row.Set("wait_ns", sum.wait_ns).Set("times_last", sum.last).Set("caused_ns", sum.caused_ns);
}

Result<Table> Compute(const Run& run, Tables& tables) {
  TableOf<CommRanksRows> table;
  const std::vector<const RunTrace*> primary = run.primary();
  const CollectiveMatches& matches = tables.OnceForRun(MatchPrimary);
  for (size_t at = 0; at < primary.size(); ++at) {
    const Trace& trace = *primary[at]->trace;
    if (trace.slices.size() + trace.gpu_ops.size() > 0) continue;
    std::map<std::string_view, Sum> kinds;
    Sum whole;
    for (size_t row = 0; row < trace.collectives.size(); ++row) {
      if (trace.collectives.dur_ns[row] == kAbsent) continue;
      const std::string_view kind = trace.Text(trace.collectives.kind[row]);
      Add(trace.collectives, row, matches[at][row], kind, kinds[kind]);
      Add(trace.collectives, row, matches[at][row], kind, whole);
    }
    if (whole.calls == 0) continue;
    AddRow(*primary[at], {}, whole, table);
    for (const auto& [kind, sum] : kinds) AddRow(*primary[at], kind, sum, table);
  }
  return table;
}

}  // namespace

ANALYSIS(comm_ranks) = AnalysisOf<CommRanksRows>({.run = Compute, .compares_ranks = true});

}  // namespace gapless::internal::comm_ranks_analysis
