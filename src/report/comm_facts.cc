// SPDX-License-Identifier: Apache-2.0
#include "report/comm_facts.h"

#include <algorithm>
#include <set>

#include "analyses/rows/comm_links.h"
#include "analyses/rows/comm_sizes.h"
#include "analyses/rows/hung_collectives.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

bool IsOfCommunication(const Trace& trace) {
  const bool rows = trace.comm_benchmarks.size() + trace.comm_channels.size() + trace.comm_calls.size() +
                        trace.comm_messages.size() + trace.collectives.size() >
                    0;
  const bool log = trace.info.format == "nccl_log";
  return (rows || log) && trace.slices.size() + trace.gpu_ops.size() == 0;
}

std::string_view FactOf(const Trace& trace, std::string_view key) {
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (trace.Text(trace.environment.key[row]) == key) return trace.Text(trace.environment.value[row]);
  return {};
}

void AddBenchmarks(const Trace& trace, std::vector<std::string>& facts) {
  const CommBenchmarkTable& all = trace.comm_benchmarks;
  if (all.size() == 0) return;
  std::set<std::string_view> kinds;
  int64_t ranks = kAbsent, tests = 0;
  for (size_t row = 0; row < all.size(); ++row) {
    if (all.kind[row] != StringId::kNone) kinds.insert(trace.Text(all.kind[row]));
    ranks = std::max(ranks, all.ranks[row]), tests = std::max(tests, all.test[row] + 1);
  }
  std::string text = tests > 1 ? FormatCounted(tests, "benchmark") : std::string("a benchmark");
  const char* before = " of ";
  for (const std::string_view kind : kinds) text += StrCat(before, kind), before = ", ";
  if (ranks != kAbsent) text += StrCat(" on ", FormatCounted(ranks, "rank"));
  facts.push_back(std::move(text));
}

void AddLog(const Trace& trace, std::vector<std::string>& facts) {
  if (const std::string_view version = FactOf(trace, "nccl.version"); !version.empty())
    facts.push_back(StrCat("NCCL ", Printable(version)));
  if (const std::string_view network = FactOf(trace, "nccl.network"); !network.empty())
    facts.push_back(StrCat("network ", Printable(network)));
  if (const std::string_view channels = FactOf(trace, "nccl.channels"); !channels.empty())
    facts.push_back(StrCat("channels: ", Printable(channels)));
}

}  // namespace

bool IsCommunicationOnly(const Run& run) {
  return !run.traces().empty() &&
         std::ranges::all_of(run.traces(), [](const RunTrace& of) { return IsOfCommunication(*of.trace); });
}

std::vector<std::string> CommunicationFacts(const Run& run) {
  std::vector<std::string> facts;
  int64_t recorders = 0, calls = 0, ranks = kAbsent;
  for (const RunTrace* of : run.primary()) {
    const Trace& trace = *of->trace;
    ranks = std::max(ranks, trace.info.world_size);
    if (trace.collectives.size() > 0) ++recorders, calls += static_cast<int64_t>(trace.collectives.size());
    AddBenchmarks(trace, facts);
    if (trace.info.format == "nccl_log") AddLog(trace, facts);
  }
  if (recorders > 0) {
    facts.push_back(StrCat("communication of ", FormatCounted(recorders, "rank"),
                           ranks > recorders ? StrCat(" of ", FormatCount(ranks)) : ""));
    facts.push_back(FormatCounted(calls, "call"));
  }
  if (facts.empty()) facts.emplace_back("a log of NCCL");
  return facts;
}

std::string_view CommunicationTable(Tables& tables) {
  if (tables.Get<HungCollectivesRows>().rows() > 0) return HungCollectivesRows::kName;
  if (tables.Get<CommSizesRows>().rows() > 0) return CommSizesRows::kName;
  return tables.Get<CommLinksRows>().rows() > 0 ? CommLinksRows::kName : std::string_view("environment");
}

}  // namespace gapless::internal
