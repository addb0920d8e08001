// SPDX-License-Identifier: Apache-2.0
// Joins GPU operations with the calls that launched them, by correlation id: both sides are ordered by id and
// merged. A correlation that several launches carry (ids reused, several processes in one file) goes to the latest
// launch that starts no later than the operation. The cost is that of ordering both sides (order.h).
#include <algorithm>
#include <numeric>

#include "trace/derive.h"
#include "trace/order.h"

namespace gapless::internal {
namespace {

// Returns the rows for which keep(row) is true, in their order.
std::vector<uint32_t> Where(size_t rows, auto keep) {
  std::vector<uint32_t> found;
  for (uint32_t row = 0; row < rows; ++row)
    if (keep(row)) found.push_back(row);
  return found;
}

// For every row of `ops` (ordered by key) calls link(op, candidates): the rows of `hosts` with the same key, in time
// order.
void MergeJoin(std::vector<uint32_t>& hosts, const Column<int64_t>& host_key, std::vector<uint32_t>& ops,
               const Column<int64_t>& op_key, auto link) {
  StableOrder(hosts, [&](uint32_t row) { return SortKey{host_key[row], 0}; });
  StableOrder(ops, [&](uint32_t row) { return SortKey{op_key[row], 0}; });
  size_t begin = 0, end = 0;  // range of the hosts with the current key
  for (const uint32_t op : ops) {
    const int64_t key = op_key[op];
    if (begin == end || host_key[hosts[begin]] != key) {
      begin = end;
      while (begin < hosts.size() && host_key[hosts[begin]] < key) ++begin;
      end = begin;
      while (end < hosts.size() && host_key[hosts[end]] == key) ++end;
    }
    link(op, std::span(hosts).subspan(begin, end - begin));
  }
}

// The last of `candidates` (rows in time order) that starts no later than `ts_ns`, else the first.
SliceId Latest(const SliceTable& slices, std::span<const uint32_t> candidates, int64_t ts_ns) {
  if (candidates.empty()) return {};
  const auto after = std::upper_bound(candidates.begin(), candidates.end(), ts_ns,
                                      [&](int64_t ts, uint32_t row) { return ts < slices.ts_ns[row]; });
  return SliceId(after == candidates.begin() ? candidates.front() : *(after - 1));
}

// Returns, for each slice, the innermost operator that is it or contains it. Parents come before their children.
std::vector<SliceId> OperatorsAround(const SliceTable& slices) {
  std::vector<SliceId> around(slices.size());
  for (uint32_t row = 0; row < slices.size(); ++row) {
    if (slices.category[row] == SliceCategory::kOperator)
      around[row] = SliceId(row);
    else if (const SliceId parent = slices.parent[row]; parent.valid())
      around[row] = around[parent.value];
  }
  return around;
}

void LinkByCorrelation(Trace& trace, DeriveCounts& counts) {
  const SliceTable& slices = trace.slices;
  GpuOpTable& ops = trace.gpu_ops;
  SliceId* launch = ops.launch.mutable_data();
  auto launches = Where(slices.size(),
                        [&](uint32_t row) { return slices.correlation[row] != kAbsent && IsLaunch(slices.api[row]); });
  auto wanting = Where(ops.size(), [&](uint32_t row) { return ops.correlation[row] != kAbsent; });
  MergeJoin(launches, slices.correlation, wanting, ops.correlation,
            [&](uint32_t op, std::span<const uint32_t> candidates) {
              launch[op] = Latest(slices, candidates, ops.ts_ns[op]);
              counts.unlinked_gpu_ops += candidates.empty();
            });
  for (size_t i = 1; i < launches.size(); ++i)
    counts.duplicate_correlations += slices.correlation[launches[i]] == slices.correlation[launches[i - 1]];
}

// Operators around the launches; where the launch is outside all operators (or missing) the recorder's external id,
// which names an operator, decides.
void LinkOperators(Trace& trace) {
  const SliceTable& slices = trace.slices;
  GpuOpTable& ops = trace.gpu_ops;
  SliceId* op_of = ops.op.mutable_data();
  std::vector<uint32_t> wanting;
  const std::vector<SliceId> around = OperatorsAround(slices);
  for (uint32_t row = 0; row < ops.size(); ++row) {
    if (const SliceId launch = ops.launch[row]; launch.valid()) op_of[row] = around[launch.value];
    if (!op_of[row].valid() && ops.external_id[row] != kAbsent) wanting.push_back(row);
  }
  if (wanting.empty()) return;
  auto operators = Where(slices.size(), [&](uint32_t row) {
    return slices.external_id[row] != kAbsent && slices.category[row] == SliceCategory::kOperator;
  });
  MergeJoin(operators, slices.external_id, wanting, ops.external_id,
            [&](uint32_t op, std::span<const uint32_t> candidates) {
              op_of[op] = Latest(slices, candidates, ops.ts_ns[op]);
            });
}

}  // namespace

// A copy call that ends after its copy waited for it: such calls are found by their times, since their names do
// not always show it.
void LinkLaunches(Trace& trace, DeriveCounts& counts) {
  LinkByCorrelation(trace, counts);
  LinkOperators(trace);
  const GpuOpTable& ops = trace.gpu_ops;
  if (std::ranges::find(trace.slices.api.stored(), ApiKind::kMemcpy) == trace.slices.api.stored().end()) return;
  ApiKind* api = trace.slices.api.mutable_data();
  for (size_t row = 0; row < ops.size(); ++row) {
    const SliceId launch = ops.launch[row];
    if (!launch.valid() || api[launch.value] != ApiKind::kMemcpy) continue;
    const int64_t call_end = trace.slices.ts_ns[launch.value] + trace.slices.dur_ns[launch.value];
    if (call_end >= ops.ts_ns[row] + ops.dur_ns[row]) api[launch.value] = ApiKind::kBlockingMemcpy;
  }
}

}  // namespace gapless::internal
