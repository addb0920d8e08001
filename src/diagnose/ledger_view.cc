// SPDX-License-Identifier: Apache-2.0
// Adds up the time breakdown of all devices, and formats times as costs per step or of the recording.
#include "diagnose/ledger_view.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analyses/rows/ledger.h"
#include "base/strings.h"
#include "trace/table.h"

namespace gapless::internal {
namespace {

struct LedgerPart {
  LedgerRows::IntColumn column;
  int64_t DeviceBreakdown::*member;
};
constexpr LedgerPart kLedgerParts[] = {{"wall_ns", &DeviceBreakdown::wall_ns},
                                       {"compute_ns", &DeviceBreakdown::compute_ns},
                                       {"exposed_comm_ns", &DeviceBreakdown::exposed_comm_ns},
                                       {"exposed_copy_ns", &DeviceBreakdown::exposed_copy_ns},
                                       {"idle_ns", &DeviceBreakdown::idle_ns},
                                       {"idle_data_ns", &DeviceBreakdown::idle_data_ns},
                                       {"idle_launch_ns", &DeviceBreakdown::idle_launch_ns},
                                       {"idle_sync_ns", &DeviceBreakdown::idle_sync_ns},
                                       {"idle_host_ns", &DeviceBreakdown::idle_host_ns},
                                       {"idle_unknown_ns", &DeviceBreakdown::idle_unknown_ns}};

double ShareIn(const DeviceBreakdown& device, int64_t ns) {
  return device.wall_ns > 0 ? static_cast<double>(ns) / static_cast<double>(device.wall_ns) : 0;
}

// Names of devices, by recording and number.
using DeviceNames = std::map<std::pair<int64_t, int32_t>, std::string_view>;

DeviceNames NamesOfDevices(const Run& run) {
  DeviceNames names;
  for (const RunTrace& run_trace : run.traces()) {
    const DeviceTable& devices = run_trace.trace->devices;
    for (size_t row = 0; row < devices.size(); ++row)
      names.emplace(std::pair(run_trace.index, devices.device[row]), run_trace.trace->Text(devices.name[row]));
  }
  return names;
}

}  // namespace

int64_t LedgerView::DevicesOf(int64_t trace) const {
  if (const auto of = process_of.find(trace); of != process_of.end()) trace = of->second;
  const auto found = devices_of_process.find(trace);
  return found == devices_of_process.end() ? 0 : found->second;
}

double LedgerView::Share(int64_t ns) const { return ShareIn(total, ns); }

std::string LedgerView::CostText(int64_t ns) const {
  if (step_rows > 0) return StrCat(FormatDuration(ns / step_rows), " of every step");
  const auto count = static_cast<int64_t>(std::max<size_t>(1, devices.size()));
  return StrCat(FormatDuration(ns / count), " of ", FormatDuration(total.wall_ns / count), " recorded");
}

std::string LedgerView::WorstText(int64_t DeviceBreakdown::*part) const {
  std::vector<int64_t> ns;
  for (const DeviceBreakdown& device : devices) ns.push_back(device.*part);
  return WorstText(ns);
}

std::string LedgerView::WorstText(const std::vector<int64_t>& ns) const {
  if (devices.size() < 2) return {};
  std::vector<double> shares;
  for (size_t i = 0; i < devices.size(); ++i) shares.push_back(ShareIn(devices[i], ns[i]));
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  constexpr double kSame = 0.02;  // difference between parts that counts as equal, as a share of the step
  if (*most - *least < kSame) return {};
  const DeviceBreakdown& worst = devices[static_cast<size_t>(most - shares.begin())];
  const std::string who = worst.rank ? StrCat("rank ", *worst.rank) : StrCat("GPU ", worst.device);
  return StrCat("; ", who, " is worst with ", FormatPercent(*most));
}

namespace {

LedgerView MakeView(Tables& tables) {
  LedgerView view;
  const auto ledger = tables.Get<LedgerRows>();
  const DeviceNames names = NamesOfDevices(tables.run());
  std::map<std::pair<int64_t, int32_t>, size_t> places;  // recording and number -> in view.devices
  for (const RunTrace& run_trace : tables.run().traces()) view.process_of.emplace(run_trace.index, run_trace.process);
  for (size_t row = 0; row < ledger.rows(); ++row) {
    if (!ledger.IsNull(row, "step")) {
      ++view.step_rows;
      continue;
    }
    DeviceBreakdown device;
    device.trace = tables.run().traces()[static_cast<size_t>(ledger.Int(row, "trace"))].process;
    if (!ledger.IsNull(row, "rank")) device.rank = ledger.Int(row, "rank");
    device.device = static_cast<int32_t>(ledger.Int(row, "device"));
    if (const auto name = names.find({device.trace, device.device}); name != names.end())
      device.device_name = name->second;
    for (const LedgerPart& part : kLedgerParts) {
      device.*part.member = ledger.Int(row, part.column);
      view.total.*part.member += device.*part.member;
    }
    // Stretches of one process are one device.
    const auto [place, is_new] = places.try_emplace({device.trace, device.device}, view.devices.size());
    if (is_new)
      view.devices.push_back(std::move(device));
    else
      for (const LedgerPart& part : kLedgerParts) view.devices[place->second].*part.member += device.*part.member;
  }
  for (const DeviceBreakdown& device : view.devices) ++view.devices_of_process[device.trace];
  return view;
}

}  // namespace

const LedgerView& ReadLedger(Tables& tables) { return tables.OnceForRun(MakeView); }

}  // namespace gapless::internal
