// SPDX-License-Identifier: Apache-2.0
// The connections of the ranks, by NCCL's own log: warnings and errors, sockets between hosts, memory of the host
// between GPUs of one host, a network without GPUDirect RDMA, few channels, and the settings behind them.
//
// A log has no times of the program, so there is no gain. Severity: 1 for errors, 0.7 for sockets, 0.65 for
// warnings, 0.6 for a detour through the host, 0.4 for few channels.
#include <algorithm>
#include <map>

#include "analyses/rows/comm_links.h"
#include "base/strings.h"
#include "diagnose/rule.h"

namespace gapless::internal::comm_setup_rule {
namespace {

constexpr std::string_view kNeeds[] = {"comm_links"};
constexpr double kError = 1, kSockets = 0.7, kDetour = 0.6, kWarned = 0.65, kFew = 0.4;
constexpr int64_t kFewChannels = 2;  // NVLink has 12 and more; so few are usual over PCIe
constexpr size_t kMaxMessages = 8;

using Facts = std::map<std::string, std::string, std::less<>>;  // rows of table environment

// A sentence about the connections of one log.
struct Said {
  double severity = 0;
  std::string title;
  std::vector<Evidence> evidence{};
  Recommendation advice{};
};

Facts FactsOf(const Trace& trace) {
  Facts facts;
  for (size_t row = 0; row < trace.environment.size(); ++row)
    if (const std::string_view key = trace.Text(trace.environment.key[row]); key.starts_with("nccl."))
      facts.emplace(key, trace.Text(trace.environment.value[row]));
  return facts;
}

std::string_view FactOf(const Facts& facts, std::string_view key) {
  const auto found = facts.find(key);
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view SettingOf(const Facts& facts, std::string_view name) {
  return FactOf(facts, StrCat("nccl.env.", name));
}

// "NCCL_P2P_DISABLE=1, NCCL_NET=Socket": those of the names that are set, and not to 0.
std::string SetOf(const Facts& facts, std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names)
    if (const std::string_view value = SettingOf(facts, name); !value.empty() && value != "0")
      text += StrCat(text.empty() ? "" : ", ", name, "=", Printable(value));
  return text;
}

Evidence EvidenceOf(std::string text, double value, std::string_view unit, std::string_view table) {
  return {.text = std::move(text), .value = value, .unit = std::string(unit), .table = std::string(table)};
}

// The links of one log.
struct Links {
  int64_t sockets = 0, shared_memory = 0, direct = 0, networks = 0, infiniband = 0, rdma = 0;  // pairs of ranks
  std::string socket, memory, network;                                                         // a transport of each
};

Links LinksOf(const CommLinksRows& links, int64_t trace) {
  Links sum;
  for (size_t row = 0; row < links.rows(); ++row) {
    if (links.Int(row, "trace") != trace) continue;
    const std::string_view transport = links.Text(row, "transport"), family = links.Text(row, "family");
    const int64_t pairs = links.Int(row, "pairs");
    if (family == "P2P") sum.direct += pairs;
    if (family == "SHM") sum.shared_memory += pairs, sum.memory = transport;
    if (family != "NET") continue;
    sum.networks += pairs, sum.network = transport;
    if (transport.starts_with("NET/Socket")) sum.sockets += pairs, sum.socket = transport;
    if (transport.starts_with("NET/IB")) sum.infiniband += pairs;
    if (transport.find("GDRDMA") != transport.npos) sum.rdma += pairs;
  }
  return sum;
}

void SayMessages(const Trace& trace, std::vector<Said>& said) {
  const CommMessageTable& all = trace.comm_messages;
  Said one;
  int64_t count = 0;
  for (size_t row = 0; row < all.size(); ++row) {
    const bool error = trace.Text(all.level[row]) == "ERROR";
    const std::string text = Printable(trace.Text(all.text[row]));
    count += all.count[row];
    if (one.title.empty() || (error && one.severity < kError))
      one.title = StrCat(error ? "the log ends with an error: " : "NCCL warns: ", Ellipsize(text, 90));
    one.severity = std::max(one.severity, error ? kError : kWarned);
    if (one.evidence.size() == kMaxMessages) continue;
    std::string evidence = StrCat("line ", all.line[row], ": ", text);
    if (trace.Text(all.host[row]).size() > 0) evidence += StrCat(" (", Printable(trace.Text(all.host[row])), ")");
    if (all.count[row] > 1) evidence += StrCat(", ", FormatTimes(static_cast<double>(all.count[row])));
    one.evidence.push_back(
        EvidenceOf(std::move(evidence), static_cast<double>(all.count[row]), "lines", "comm_message"));
  }
  if (one.title.empty()) return;
  if (all.size() > kMaxMessages)
    one.evidence.push_back(EvidenceOf(StrCat(FormatCount(count), " warnings and errors in all"),
                                      static_cast<double>(count), "lines", "comm_message"));
  one.advice = {"begin with the first warning of the first host: what follows is often its consequence", "",
                "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET torchrun …", "hours"};
  said.push_back(std::move(one));
}

void SaySockets(const Facts& facts, const Links& links, std::vector<Said>& said) {
  if (links.sockets == 0) return;
  std::vector<std::string> why;
  if (FactOf(facts, "nccl.ib_devices") == "none") why.emplace_back("no InfiniBand or RoCE device was found");
  if (FactOf(facts, "nccl.net_plugin") == "none") why.emplace_back("no network plugin was found");
  if (const std::string set = SetOf(facts, {"NCCL_IB_DISABLE", "NCCL_NET", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"});
      !set.empty())
    why.push_back(StrCat(set, " is set"));
  Said one{kSockets, StrCat("ranks talk over TCP sockets (", Printable(links.socket), ")")};
  const std::string_view nodes = FactOf(facts, "nccl.nodes");
  one.evidence.push_back(EvidenceOf(StrCat(FormatCounted(links.sockets, "pair"), " of ranks over sockets",
                                           nodes.empty() ? "" : StrCat(", nodes: ", nodes)),
                                    static_cast<double>(links.sockets), "pairs", "comm_links"));
  if (!why.empty()) one.evidence.push_back(EvidenceOf(Join(why, "; "), kSockets, "", "environment"));
  one.advice = {
      "use the fast network, if the hosts have one: its plugin (aws-ofi-nccl, gpudirect-tcpx), the drivers and "
      "devices of InfiniBand inside the container, no NCCL_IB_DISABLE",
      "", "ibv_devinfo; NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET …", "hours"};
  said.push_back(std::move(one));
}

void SayHostMemory(const Facts& facts, const Links& links, std::vector<Said>& said) {
  if (links.shared_memory == 0) return;
  const std::string set = SetOf(facts, {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"});
  Said one{kDetour, StrCat("GPUs of one host talk through its memory (", Printable(links.memory), ")",
                           set.empty() ? "" : StrCat(": ", set, " is set"))};
  one.evidence.push_back(
      EvidenceOf(StrCat(FormatCounted(links.shared_memory, "pair"), " of ranks through the host's memory, ",
                        FormatCount(links.direct), " directly"),
                 static_cast<double>(links.shared_memory), "pairs", "comm_links"));
  if (set.empty())
    one.advice = {"see if the GPUs can reach each other directly: ACS and IOMMU switch that off, containers may", "",
                  "nvidia-smi topo -p2p r; p2pBandwidthLatencyTest", "hours"};
  else
    one.advice = {StrCat("leave out ", set, " and measure: GPUs that can reach each other are faster without"), "",
                  "env -u NCCL_P2P_DISABLE -u NCCL_P2P_LEVEL torchrun …", "minutes"};
  said.push_back(std::move(one));
}

void SayNoRdma(const Facts& facts, const Links& links, std::vector<Said>& said) {
  if (links.infiniband == 0 || links.rdma > 0) return;
  Said one{kDetour, "the network copies through the host: no channel uses GPUDirect RDMA"};
  one.evidence.push_back(EvidenceOf(StrCat(FormatCounted(links.infiniband, "pair"), " of ranks over ",
                                           Printable(links.network), ", none with GDRDMA"),
                                    static_cast<double>(links.infiniband), "pairs", "comm_links"));
  if (const std::string_view off = FactOf(facts, "nccl.gdr_disabled"); !off.empty())
    one.evidence.push_back(EvidenceOf(StrCat("it is disabled for ", Printable(off)), kDetour, "", "environment"));
  if (const std::string set = SetOf(facts, {"NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_DMABUF_ENABLE"});
      !set.empty())
    one.evidence.push_back(EvidenceOf(StrCat(set, " is set"), kDetour, "", "environment"));
  one.advice = {"load nvidia-peermem, or use a kernel with DMA-BUF; then see if a channel says GDRDMA", "",
                "lsmod | grep nvidia_peermem; nvidia-smi topo -m", "hours"};
  said.push_back(std::move(one));
}

void SayFewChannels(const Facts& facts, const Links& links, std::vector<Said>& said) {
  const std::string_view text = FactOf(facts, "nccl.channels");
  if (text != "1" && text != "2") return;
  if (links.direct == 0) return;
  const std::string set =
      SetOf(facts, {"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE", "NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MIN_NCHANNELS"});
  Said one{kFew, StrCat("NCCL uses ", text, " channels", set.empty() ? "" : StrCat(": ", set, " is set"))};
  one.evidence.push_back(EvidenceOf(StrCat(text,
                                           " channels between GPUs that reach each other directly; over NVLink it "
                                           "uses 12 and more, over PCIe ",
                                           kFewChannels),
                                    kFew, "", "environment"));
  if (set.empty())
    one.advice = {"see if the GPUs are joined by NVLink, and if all of its links are up", "",
                  "nvidia-smi topo -m; nvidia-smi nvlink -s", "minutes"};
  else
    one.advice = {StrCat("leave out ", set, ", and see how many channels it chooses"), "",
                  "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH …", "minutes"};
  said.push_back(std::move(one));
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const auto links = tables.Get<CommLinksRows>();
  std::vector<Said> said;
  for (const RunTrace* of : tables.run().primary()) {
    const Trace& trace = *of->trace;
    if (trace.info.format != "nccl_log") continue;
    const Facts facts = FactsOf(trace);
    const Links of_log = LinksOf(links, of->index);
    SayMessages(trace, said);
    for (const auto say : {SaySockets, SayHostMemory, SayNoRdma, SayFewChannels}) say(facts, of_log, said);
  }
  if (said.empty()) return std::vector<Bottleneck>{};
  std::ranges::stable_sort(said, std::greater(), &Said::severity);
  Bottleneck found;
  found.severity = said[0].severity;
  found.title = said[0].title;
  found.description = "NCCL's log says how ranks are connected, not how much of a step that costs.";
  for (Said& one : said) {
    if (&one != &said[0]) one.evidence.front().text = StrCat(one.title, ": ", one.evidence.front().text);
    std::ranges::move(one.evidence, std::back_inserter(found.evidence));
    found.recommendations.push_back(std::move(one.advice));
  }
  return std::vector{std::move(found)};
}

}  // namespace

RULE(comm_setup) = {
    .id = "comm_setup",
    .type = BottleneckType::kMultiGpuComm,
    .title = "How NCCL connected the ranks",
    .why =
        "Logs with NCCL_DEBUG=INFO: warnings and errors in their own words, TCP sockets, GPUs of one host that talk "
        "through its memory, InfiniBand without GPUDirect RDMA, two channels or fewer between GPUs that reach each "
        "other directly, and the NCCL_* variables behind them. Claims no time. Severity 1 for errors, 0.7 for sockets, "
        "0.65 for warnings, 0.6 for a detour through the host, 0.4 for few channels.",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::comm_setup_rule
