// SPDX-License-Identifier: Apache-2.0
// Names of columns are compared without case and separators: rocprofv3 writes "Start_Timestamp", rocprof "BeginNs",
// rocprof-compute "Dispatch_ID". Where passes over the same dispatches were joined, columns of a later pass have a
// number behind their names.
#include "ingest/readers/rocprof_csv/columns.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"

namespace gapless::internal::rocm {
namespace {

struct Named {
  std::string_view name;
  Column column;
};
constexpr Named kNamed[] = {{"kernelname", Column::kKernel},
                            {"starttimestamp", Column::kStart},
                            {"beginns", Column::kStart},
                            {"endtimestamp", Column::kEnd},
                            {"endns", Column::kEnd},
                            {"agentid", Column::kAgent},
                            {"gpuid", Column::kAgent},
                            {"queueid", Column::kQueue},
                            {"streamid", Column::kStream},
                            {"threadid", Column::kThread},
                            {"tid", Column::kThread},
                            {"processid", Column::kProcess},
                            {"pid", Column::kProcess},
                            {"dispatchid", Column::kDispatch},
                            {"index", Column::kDispatch},
                            {"correlationid", Column::kCorrelation},
                            {"ldsblocksize", Column::kShared},
                            {"ldsperworkgroup", Column::kShared},
                            {"lds", Column::kShared},
                            {"vgprcount", Column::kRegisters},
                            {"archvgpr", Column::kRegisters},
                            {"vgpr", Column::kRegisters},
                            {"workgroupsize", Column::kGroup},
                            {"wgr", Column::kGroup},
                            {"workgroupsizex", Column::kGroupX},
                            {"workgroupsizey", Column::kGroupY},
                            {"workgroupsizez", Column::kGroupZ},
                            {"gridsize", Column::kGrid},
                            {"grd", Column::kGrid},
                            {"gridsizex", Column::kGridX},
                            {"gridsizey", Column::kGridY},
                            {"gridsizez", Column::kGridZ},
                            {"direction", Column::kDirection},
                            {"sourceagentid", Column::kFrom},
                            {"destinationagentid", Column::kTo},
                            {"size", Column::kBytes},
                            {"domain", Column::kDomain},
                            {"function", Column::kFunction},
                            {"operation", Column::kOperation},
                            {"allocationsize", Column::kSize},
                            {"address", Column::kAddress},
                            {"countername", Column::kCounter},
                            {"countervalue", Column::kValue},
                            {"name", Column::kName},
                            {"calls", Column::kCalls},
                            {"totaldurationns", Column::kTotal},
                            {"nodeid", Column::kAgentNumber},
                            {"agenttype", Column::kAgentType},
                            {"productname", Column::kProduct},
                            {"cucount", Column::kComputeUnits},
                            {"maxengineclkfcompute", Column::kClock},
                            {"allocflags", Column::kScratchFlags}};
// Columns beside a dispatch that are no counters.
constexpr std::string_view kIgnored[] = {"kind",
                                         "guid",
                                         "kernelid",
                                         "scratchsize",
                                         "scr",
                                         "accumvgpr",
                                         "sgpr",
                                         "accumvgprcount",
                                         "sgprcount",
                                         "wavesize",
                                         "sig",
                                         "obj",
                                         "dispatchns",
                                         "completens",
                                         "durationns",
                                         "queueindex",
                                         "fbar",
                                         "xccindex",
                                         "scratchperworkitem",
                                         "node",
                                         "privatesegmentsize",
                                         "groupsegmentsize",
                                         "wavefrontsize"};

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if ((Lower(c) >= 'a' && Lower(c) <= 'z') || (c >= '0' && c <= '9')) plain += Lower(c);
  return plain;
}

Column ColumnOf(std::string_view name) {
  std::string plain = Plain(name);
  for (int pass = 0; pass < 2; ++pass) {
    const auto* const known = std::ranges::find(kNamed, plain, &Named::name);
    if (known != std::end(kNamed)) return pass == 0 ? known->column : Column::kIgnored;
    if (std::ranges::find(kIgnored, plain) != std::end(kIgnored)) return Column::kIgnored;
    plain.resize(plain.find_last_not_of("0123456789") + 1);
  }
  return Column::kOther;
}

// "TCC_HIT" of "TCC_HIT[3]": instances of one counter.
std::string CounterOf(const std::string& name) {
  const size_t at = name.find('[');
  return name.ends_with(']') && at != std::string::npos && at > 0 ? name.substr(0, at) : name;
}

Form FormOfTable(const Head& head) {
  using enum Column;
  const bool timed = head.Has(kStart) && head.Has(kEnd);
  if (head.Has(kCounter) && head.Has(kValue) && head.Has(kKernel)) return Form::kCounters;
  if (head.Has(kKernel) && (timed || (head.Has(kGrid) && head.Has(kGroup)))) return Form::kDispatches;
  if (head.Has(kDirection) && timed) return Form::kCopies;
  if (head.Has(kFunction) && head.Has(kDomain) && timed) return Form::kCalls;
  if (head.Has(kSize) && head.Has(kOperation) && timed) return Form::kAllocations;
  if (head.Has(kScratchFlags) && timed) return Form::kScratch;
  if (head.Has(kAgentType) && head.Has(kAgentNumber)) return Form::kAgents;
  return head.Has(kName) && head.Has(kCalls) && head.Has(kTotal) ? Form::kSummary : Form::kNone;
}

}  // namespace

Head HeadOf(const std::vector<std::string>& fields) {
  Head head;
  head.places.fill(-1);
  head.columns = fields.size();
  for (size_t i = 0; i < fields.size(); ++i) {
    const Column column = ColumnOf(fields[i]);
    if (column == Column::kIgnored) continue;
    if (column == Column::kOther) {
      if (!fields[i].empty()) head.counters.emplace_back(static_cast<int>(i), CounterOf(fields[i]));
      continue;
    }
    int& place = head.places[static_cast<size_t>(column)];
    if (place < 0) place = static_cast<int>(i);
  }
  head.form = FormOfTable(head);
  if (head.form != Form::kDispatches) head.counters.clear();
  return head;
}

}  // namespace gapless::internal::rocm
