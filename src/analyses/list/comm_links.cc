// SPDX-License-Identifier: Apache-2.0
// Connections of communicators. Both ends of a connection over a network write a line: a channel of a pair counts once.
#include "analyses/rows/comm_links.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/columns.h"

namespace gapless::internal::comm_links_analysis {
namespace {

using Pair = std::pair<int64_t, int64_t>;
using Links = std::map<std::pair<std::string_view, std::string_view>, std::map<Pair, std::set<int64_t>>>;

void AddRows(const RunTrace& of, TableOf<CommLinksRows>& table) {
  const Trace& trace = *of.trace;
  const CommChannelTable& all = trace.comm_channels;
  Links links;
  for (size_t at = 0; at < all.size(); ++at)
    links[{trace.Text(all.family[at]), trace.Text(all.transport[at])}][{all.src_rank[at], all.dst_rank[at]}].insert(
        all.channel[at]);
  for (const auto& [key, pairs] : links) {
    int64_t channels = 0, least = INT64_MAX;
    for (const auto& [pair, of_pair] : pairs) {
      channels += static_cast<int64_t>(of_pair.size());
      least = std::min(least, static_cast<int64_t>(of_pair.size()));
    }
    const auto& [family, transport] = key;
    auto row = table.Row(of);
    row.Set("family", family).Set("transport", transport);
    row.Set("pairs", static_cast<int64_t>(pairs.size())).Set("channels", channels).Set("least_channels", least);
    row.Set("src_rank", pairs.begin()->first.first).Set("dst_rank", pairs.begin()->first.second);
  }
}

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<CommLinksRows> table;
  for (const RunTrace* of : run.primary()) AddRows(*of, table);
  return table;
}

}  // namespace

ANALYSIS(comm_links) = AnalysisOf<CommLinksRows>({.run = Compute});

}  // namespace gapless::internal::comm_links_analysis
