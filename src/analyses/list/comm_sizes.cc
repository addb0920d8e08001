// SPDX-License-Identifier: Apache-2.0
// Collectives by the size of their message. A row is of a benchmark's result, of recorded calls of one kind and size in
// groups of one size, or of calls that a log counted and nothing timed. The algorithm and protocol of a size come from
// the same file's log, if it names one for all calls of that kind and size.
#include "analyses/rows/comm_sizes.h"

#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/bandwidth.h"
#include "analyses/columns.h"

namespace gapless::internal::comm_sizes_analysis {
namespace {

struct Choice {
  std::string_view algorithm, protocol;
  int64_t channels = kAbsent, calls = 0;
  bool several = false;
};
using SizeKey = std::pair<std::string_view, int64_t>;  // kind and bytes

std::map<SizeKey, Choice> ChoicesOf(const Trace& trace) {
  std::map<SizeKey, Choice> choices;
  const CommCallTable& calls = trace.comm_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    const std::string_view algorithm = trace.Text(calls.algorithm[row]), protocol = trace.Text(calls.protocol[row]);
    if (algorithm.empty()) continue;
    Choice& choice = choices[{trace.Text(calls.kind[row]), calls.bytes[row]}];
    const bool other = choice.calls > 0 && (choice.algorithm != algorithm || choice.protocol != protocol);
    choice = {algorithm, protocol,
              choice.calls > 0 && choice.channels != calls.channels[row] ? kAbsent : calls.channels[row],
              choice.calls + calls.calls[row], choice.several || other};
  }
  return choices;
}

// The way that most channels take, devices and numbers left as they are.
std::string_view TransportOf(const Trace& trace) {
  std::map<StringId, int64_t> counts;
  for (const StringId transport : trace.comm_channels.transport) ++counts[transport];
  StringId most = StringId::kNone;
  for (const auto& [transport, count] : counts)
    if (most == StringId::kNone || count > counts[most]) most = transport;
  return trace.Text(most);
}

class Rows {
 public:
  Rows(const RunTrace& of, TableOf<CommSizesRows>& table)
      : of_(of), trace_(*of.trace), table_(table), choices_(ChoicesOf(trace_)), transport_(TransportOf(trace_)) {}

  void AddBenchmarks() {
    const CommBenchmarkTable& all = trace_.comm_benchmarks;
    for (size_t at = 0; at < all.size(); ++at) {
      const std::string_view kind = trace_.Text(all.kind[at]);
      auto row = table_.Row(of_);
      row.Set("source", "benchmark").Set("test", all.test[at]).Set("kind", kind);
      row.Set("placement", trace_.Text(all.placement[at])).Set("group_size", all.ranks[at]);
      row.Set("bytes", all.bytes[at]).Set("dur_ns", all.dur_ns[at]);
      row.Set("algo_gbps", all.algo_gbps[at]).Set("bus_gbps", all.bus_gbps[at]).Set("wrong", all.wrong[at]);
      SetChoice({kind, all.bytes[at]}, row);
    }
  }

  void AddRecorded() {
    struct Sum {
      int64_t calls = 0, dur_ns = 0;
    };
    std::map<std::tuple<std::string_view, int32_t, int64_t>, Sum> sums;
    const CollectiveTable& all = trace_.collectives;
    for (size_t at = 0; at < all.size(); ++at) {
      if (all.bytes[at] == kAbsent || all.dur_ns[at] == kAbsent) continue;
      Sum& sum = sums[{trace_.Text(all.kind[at]), all.group_size[at], all.bytes[at]}];
      ++sum.calls, sum.dur_ns += all.dur_ns[at];
    }
    for (const auto& [key, sum] : sums) {
      const auto& [kind, ranks, bytes] = key;
      const double gbps = AlgorithmBandwidthGbps(bytes * sum.calls, sum.dur_ns);
      auto row = table_.Row(of_);
      row.Set("source", "recorded").Set("kind", kind).Set("group_size", ranks).Set("bytes", bytes);
      row.Set("calls", sum.calls).Set("dur_ns", sum.dur_ns / sum.calls);
      row.Set("algo_gbps", gbps).Set("bus_gbps", gbps * BusFactor(kind, ranks));
      SetChoice({kind, bytes}, row);
    }
  }

  // Sizes that the log alone knows.
  void AddLogged() {
    for (const auto& [key, choice] : choices_) {
      if (timed_.contains(key)) continue;
      auto row = table_.Row(of_);
      row.Set("source", "log").Set("kind", key.first).Set("bytes", key.second).Set("calls", choice.calls);
      SetChoice(key, row);
    }
  }

 private:
  void SetChoice(const SizeKey& key, TableOf<CommSizesRows>::RowWriter& row) {
    row.Set("transport", transport_);
    const auto found = choices_.find(key);
    if (found == choices_.end()) return;
    timed_[key] = true;
    const Choice& choice = found->second;
    row.Set("algorithm", choice.several ? std::string_view("several") : choice.algorithm);
    row.Set("protocol", choice.several ? std::string_view("several") : choice.protocol);
    row.Set("channels", choice.channels);
  }

  const RunTrace& of_;
  const Trace& trace_;
  TableOf<CommSizesRows>& table_;
  const std::map<SizeKey, Choice> choices_;
  const std::string_view transport_;
  std::map<SizeKey, bool> timed_{};
};

Result<Table> Compute(const Run& run, Tables&) {
  TableOf<CommSizesRows> table;
  for (const RunTrace* of : run.primary()) {
    Rows rows(*of, table);
    rows.AddBenchmarks();
    rows.AddRecorded();
    rows.AddLogged();
  }
  return table;
}

}  // namespace

ANALYSIS(comm_sizes) = AnalysisOf<CommSizesRows>({.run = Compute});

}  // namespace gapless::internal::comm_sizes_analysis
