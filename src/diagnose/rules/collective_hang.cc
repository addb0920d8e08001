// SPDX-License-Identifier: Apache-2.0
// A job that hangs in communication: the collective at which its ranks part, who did not call it or called it
// differently, and where.
//
// It costs no share of a step, so there is no gain. The finding is of the place that explains most: ranks that called
// something else come before ranks that called nothing, and those before a collective that all called alike; of each
// the earliest. Severity 1; 0.5 where all called it alike, since a dump of a job that is well shows that, too.
#include <algorithm>

#include "analyses/rows/hung_collectives.h"
#include "base/strings.h"
#include "diagnose/evidence.h"
#include "diagnose/rule.h"

namespace gapless::internal::collective_hang_rule {
namespace {

constexpr std::string_view kNeeds[] = {"hung_collectives"};
constexpr double kHangs = 1, kUnfinished = 0.5;
constexpr size_t kMaxPlaces = 5;  // maximum number of places that are named

int Order(const HungCollectivesRows& hung, size_t row) {
  const std::string_view problem = hung.Text(row, "problem");
  return problem == "stuck" ? 2 : problem == "missing" ? 1 : 0;
}

std::vector<size_t> Ordered(const HungCollectivesRows& hung) {
  std::vector<size_t> rows(hung.rows());
  for (size_t row = 0; row < rows.size(); ++row) rows[row] = row;
  std::ranges::stable_sort(rows, [&](size_t a, size_t b) {
    return std::pair(Order(hung, a), hung.Int(a, "ts_ns")) < std::pair(Order(hung, b), hung.Int(b, "ts_ns"));
  });
  return rows;
}

std::string RanksPhrase(std::string_view ranks) {
  const bool several = ranks.find_first_of(",-") != ranks.npos || ranks.find("–") != ranks.npos;
  return StrCat(several ? "ranks " : "rank ", ranks);
}

std::string CallText(const HungCollectivesRows& hung, size_t row) {
  std::string_view name = hung.Text(row, "name");
  name.remove_prefix(name.find_last_of(':') + 1);
  std::string text = StrCat(Printable(name), " number ", hung.Int(row, "seq"));
  if (!hung.IsNull(row, "group")) text += StrCat(" of group ", Printable(hung.Text(row, "group")));
  return text;
}

std::string Waiting(const HungCollectivesRows& hung, size_t row) {
  std::string waiting;
  for (const HungCollectivesRows::TextColumn column :
       {HungCollectivesRows::TextColumn("ranks_started"), HungCollectivesRows::TextColumn("ranks_scheduled")})
    if (!hung.IsNull(row, column)) waiting += StrCat(waiting.empty() ? "" : ", ", hung.Text(row, column));
  return waiting;
}

std::string TitleOf(const HungCollectivesRows& hung, size_t row) {
  const std::string_view problem = hung.Text(row, "problem");
  const std::string call = CallText(hung, row);
  if (problem == "missing") return StrCat(RanksPhrase(hung.Text(row, "ranks_missing")), " did not call ", call);
  if (problem == "stuck")
    return StrCat(call, " had not ended on ", RanksPhrase(Waiting(hung, row)),
                  hung.IsNull(row, "ranks_unknown")
                      ? std::string(": all called it alike")
                      : StrCat("; nothing is known of ", RanksPhrase(hung.Text(row, "ranks_unknown"))));
  if (problem == "kind" && !hung.IsNull(row, "ranks_differing"))
    return StrCat(RanksPhrase(hung.Text(row, "ranks_differing")), " called ", Printable(hung.Text(row, "detail")), ": ",
                  call);
  if (hung.IsNull(row, "ranks_differing")) return StrCat(call, ": ", hung.Text(row, "detail"));
  return StrCat(RanksPhrase(hung.Text(row, "ranks_differing")), " called ", call, " with another ", problem, ": ",
                Printable(hung.Text(row, "detail")));
}

Evidence PlaceOf(const HungCollectivesRows& hung, size_t row) {
  std::string text = TitleOf(hung, row);
  if (const std::string waiting = Waiting(hung, row); !waiting.empty() && hung.Text(row, "problem") != "stuck")
    text += StrCat("; ", RanksPhrase(waiting), " had not ended it");
  if (!hung.IsNull(row, "ranks_completed"))
    text += StrCat("; done on ", RanksPhrase(hung.Text(row, "ranks_completed")));
  if (!hung.IsNull(row, "ranks_unknown") && hung.Text(row, "problem") != "stuck")
    text += StrCat("; nothing is known of ", RanksPhrase(hung.Text(row, "ranks_unknown")));
  return {.text = std::move(text),
          .value = static_cast<double>(hung.Int(row, "seq")),
          .unit = "",
          .table = "hung_collectives",
          .source = TextOr(hung, row, "source_line", "")};
}

Recommendation MissingAdvice(const HungCollectivesRows& hung, size_t row) {
  std::string last;
  if (!hung.IsNull(row, "last_name"))
    last = StrCat("; its last call in the group was ", Printable(hung.Text(row, "last_name")),
                  hung.IsNull(row, "last_line") ? "" : StrCat(" in ", Printable(hung.Text(row, "last_line"))));
  return {StrCat("look at what ", RanksPhrase(hung.Text(row, "ranks_missing")),
                 " did instead: an exception, another branch, fewer batches", last),
          "", "py-spy dump --pid PID  # of that rank, while it hangs", "hours"};
}

Recommendation AdviceOf(const HungCollectivesRows& hung, size_t row) {
  const std::string_view problem = hung.Text(row, "problem");
  if (problem == "missing") return MissingAdvice(hung, row);
  if (problem == "kind")
    return {"let all ranks take the same branches around collectives: they must be called in the same order", "",
            "TORCH_DISTRIBUTED_DEBUG=DETAIL torchrun …  # checks every call", "hours"};
  if (problem == "stuck")
    return {"if the job hung then, the program is not the cause: look at the GPUs and the network between them", "",
            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET torchrun …; nvidia-smi -q | grep -i xid", "hours"};
  return {StrCat("give the same ", problem == "dtype" ? "type" : "sizes",
                 " on all ranks: a last batch that is smaller, a parameter that only some ranks have"),
          "", "DataLoader(dataset, drop_last=True, …)", "hours"};
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto hung = tables.Get<HungCollectivesRows>();
  if (hung.rows() == 0) return std::vector<Bottleneck>{};
  const std::vector<size_t> rows = Ordered(hung);
  const bool stuck = hung.Text(rows[0], "problem") == "stuck";
  Bottleneck found;
  found.severity = stuck ? kUnfinished : kHangs;
  found.title = TitleOf(hung, rows[0]);
  found.description =
      stuck ? "All ranks whose dumps are here called it alike, and it had not ended when the dumps were written: the "
              "job hung in it, or was "
              "in the middle of it."
            : "The ranks of a group must call the same collectives in the same order; from here on they do not, and "
              "the others wait.";
  for (size_t at = 0; at < std::min(rows.size(), kMaxPlaces); ++at) found.evidence.push_back(PlaceOf(hung, rows[at]));
  if (rows.size() > kMaxPlaces)
    found.evidence.push_back({.text = StrCat(FormatCount(static_cast<int64_t>(rows.size() - kMaxPlaces)), " more"),
                              .value = static_cast<double>(rows.size() - kMaxPlaces),
                              .unit = "collectives",
                              .table = "hung_collectives"});
  found.recommendations.push_back(AdviceOf(hung, rows[0]));
  return std::vector{std::move(found)};
}

}  // namespace

RULE(collective_hang) = {
    .id = "collective_hang",
    .type = BottleneckType::kMultiGpuComm,
    .title = "Ranks that hang in a collective",
    .why =
        "Dumps of PyTorch's Flight Recorder: the first collective that not all ranks of a group called, or not with "
        "the same kind, sizes and type, and collectives that had not ended. It is compared as PyTorch's own analyser "
        "does (torch.distributed.flight_recorder), with what most ranks called. Claims no time. Severity 1, or 0.5 "
        "where all ranks called alike.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::collective_hang_rule
