// SPDX-License-Identifier: Apache-2.0
// Chooses between overlap, fewer or larger messages, another link, and even work.
#include "diagnose/rules/exposed_communication/overlap_advice.h"

#include <algorithm>
#include <map>

#include "analyses/rows/collective_groups.h"
#include "analyses/rows/communication.h"
#include "analyses/rows/host_events.h"
#include "analyses/rows/parallel_layout.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/made_lines.h"
#include "fixes/names.h"

namespace gapless::internal::exposed_communication_rule {

namespace {

// TraceLens: of the communication, less than this under computation is poor overlap.
constexpr double kGoodOverlapShare = 0.70;

// Returns the kind of collective with the most exposed time; "" if the recorder does not record kinds.
std::string MainKind(const CommunicationRows& communication) {
  std::map<std::string_view, int64_t> exposed;
  for (size_t row = 0; row < communication.rows(); ++row)
    if (!communication.IsNull(row, "kind"))
      exposed[communication.Text(row, "kind")] += communication.Int(row, "exposed_ns");
  const auto most = std::max_element(exposed.begin(), exposed.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == exposed.end() ? std::string() : std::string(most->first);
}

bool IsMessage(std::string_view kind) { return kind == "send_recv" || kind == "send" || kind == "recv"; }

bool HasPipeline(const ParallelLayoutRows& layout) {
  for (size_t row = 0; row < layout.rows(); ++row)
    if (layout.Text(row, "dimension") == "pipeline") return true;
  return false;
}

Recommendation OverlapAdvice(const Use& use) {
  if (use.stages)
    return {
        "the stages of the pipeline wait for each other: cut the batch into more microbatches, and give each stage "
        "as much to do",
        "", "", "hours"};
  const std::string_view kind = use.kind;
  if (kind == "all_gather" || kind == "reduce_scatter")
    return {"gather the next layer's parameters while this one computes", "",
            "FSDP(model, forward_prefetch=True, limit_all_gathers=False)", "minutes"};
  if (kind == "all_to_all" || IsMessage(kind))
    return {StrCat("overlap ", kind,
                   " with computation: start the next batch's exchange before this one's result is needed"),
            "", "", "days"};
  if (kind == "broadcast")
    return {StrCat("do not broadcast buffers in every forward pass", InLine(use.made)), "",
            "DDP(model, broadcast_buffers=False)", "minutes"};
  if (kind == "all_reduce" && use.one_by_one())
    return {StrCat("reduce gradients in few large buckets while the backward pass computes, not in ",
                   FormatNumber(use.calls, 0), use.has_steps ? " calls a step" : " calls",
                   ": DistributedDataParallel does", InLine(use.made)),
            fixes::kDdpBucket.Item("50"), "model = DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True)",
            "hours"};
  if (!use.trains)
    return {
        "overlap it with computation: split the batch in two, and let one half communicate while the other computes",
        "", "", "days"};
  return {StrCat("let gradients leave earlier: tune bucket_cap_mb and use gradient_as_bucket_view", InLine(use.made)),
          fixes::kDdpBucket.Item("50"), "DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True, static_graph=True)",
          "minutes"};
}

}  // namespace

Use UseOf(Tables& tables, const LedgerView& ledger) {
  Use use{.kind = MainKind(tables.Get<CommunicationRows>()),
          .made = LineOfMade(tables.run(), "DistributedDataParallel")};
  const auto events = tables.Get<HostEventsRows>();
  const auto groups = tables.Get<CollectiveGroupsRows>();
  for (size_t row = 0; row < events.rows(); ++row) use.ddp |= events.Text(row, "kind") == "ddp";
  use.has_steps = ledger.step_rows > 0;
  use.trains = use.ddp || use.has_steps;
  use.stages = IsMessage(use.kind) && HasPipeline(tables.Get<ParallelLayoutRows>());
  std::map<int64_t, double> calls;  // by trace
  for (size_t row = 0; row < groups.rows(); ++row)
    if (groups.Text(row, "kind") == use.kind)
      calls[groups.Int(row, "trace")] += groups.IsNull(row, "calls_per_step")
                                             ? static_cast<double>(groups.Int(row, "calls"))
                                             : groups.Real(row, "calls_per_step");
  for (const auto& [trace, each] : calls) use.calls = std::max(use.calls, each);
  return use;
}

std::optional<Recommendation> EvenOut(const Ranks& ranks, const Waiting& waiting, int64_t stake, const Use& use) {
  if (use.stages) return std::nullopt;  // the first advice has it: stages wait, however even they are
  const int64_t slow = waiting.known ? waiting.slow_rank : ranks.uneven() ? *ranks.least->rank : kAbsent;
  if (slow != kAbsent)
    return Recommendation{
        StrCat("find out what delays rank ", slow, ": that rank waits least, and the others wait for it"),
        fixes::kStraggler.Item(), "", "hours"};
  if (waiting.known && 2 * waiting.ns > stake)
    return Recommendation{
        "give all ranks the same work: most of this time they wait for each other, and no single rank causes most of "
        "it",
        fixes::kStraggler.Item(), "", "hours"};
  return std::nullopt;
}

std::vector<Recommendation> Recommend(double overlap_share, const Use& use, const std::optional<LinkUse>& links) {
  std::vector<Recommendation> all;
  if (links && links->far_below()) all.push_back(CheckTransport(*links));
  if (overlap_share < kGoodOverlapShare) all.push_back(OverlapAdvice(use));
  const bool gradients =
      use.kind == "all_reduce" || use.kind == "reduce_scatter" || use.kind == "other" || use.kind.empty();
  if (gradients && use.trains && !use.one_by_one())
    all.push_back({"communicate less often: accumulate gradients over several batches", fixes::kNosync.Item("4"),
                   "with model.no_sync(): loss.backward()", "minutes"});
  if (all.empty())
    all.push_back(
        {StrCat("most communication is hidden already; send less: ", use.kind.empty() ? "the messages" : use.kind,
                " with fewer bits per value, or over fewer ranks"),
         "", "", "days"});
  return all;
}

bool OverlapComesFirst(const std::vector<Recommendation>& all, const Use& use) {
  return !all.empty() && use.kind != "broadcast" && !use.stages && all[0].text == OverlapAdvice(use).text;
}

}  // namespace gapless::internal::exposed_communication_rule
