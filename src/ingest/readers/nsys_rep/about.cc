// SPDX-License-Identifier: Apache-2.0
// Texts stay in the block that they were unpacked with, and are looked at when a row refers to them: environments of
// processes are among them. Of the facts about the system the name of the host is taken, nothing else.
#include "ingest/readers/nsys_rep/about.h"

#include "base/wire_format.h"
#include "ingest/readers/nsys/devices.h"

namespace gapless::internal::nsys_rep {
namespace {

// Returns the fields of one number that are messages.
std::vector<std::string_view> Messages(std::string_view message, uint32_t number, int64_t& damaged) {
  std::vector<std::string_view> found;
  WireReader fields(message);
  while (fields.Next())
    if (fields.number() == number && fields.is_bytes()) found.push_back(fields.bytes());
  damaged += fields.damaged() ? 1 : 0;
  return found;
}

// The version stands in full in one of three fields, of which newer ones count; the head of old files only says "1".
std::string VersionOf(const Container& report) {
  std::map<uint32_t, std::string> versions;
  WireReader fields(report.ui_data);
  while (fields.Next())
    if (fields.is_bytes() && (fields.number() == 6 || fields.number() == 7 || fields.number() == 21))
      versions.try_emplace(fields.number(), fields.bytes());
  for (const uint32_t number : {21U, 6U, 7U})
    if (const auto known = versions.find(number); known != versions.end() && !known->second.empty())
      return known->second;
  return report.header_version();
}

void ReadTexts(Container& report, About& about) {
  const std::string_view texts = about.facts.texts.Hold(std::move(report.texts));
  int64_t id = 0;
  WireReader fields(texts);
  while (fields.Next())
    if (fields.number() == 1) about.facts.texts.Refer(id++, fields.bytes());
  about.damaged += fields.damaged() ? 1 : 0;
}

void ReadIndex(std::string_view index, About& about) {
  WireReader fields(index);
  while (fields.Next()) switch (fields.number()) {
      case 1: about.events = fields.Int(); break;
      case 3: about.texts = fields.Int(); break;
      case 5: about.threads = fields.Int(); break;
      case 15: about.generic = fields.Int(); break;
      default: break;
    }
  about.damaged += fields.damaged() ? 1 : 0;
  for (const std::string_view layout : Messages(index, 14, about.damaged)) {
    int64_t type = kAbsent;
    std::vector<MetricField> metrics;
    WireReader of_layout(layout);
    while (of_layout.Next()) {
      if (of_layout.number() == 1) type = of_layout.Int();
      if (of_layout.number() != 3) continue;
      MetricField metric;
      WireReader of_metric(of_layout.bytes());
      while (of_metric.Next()) {
        if (of_metric.number() == 1) metric.name = about.facts.texts.Of(of_metric.Int());
        if (of_metric.number() == 2) metric.offset = of_metric.Unsigned();
        if (of_metric.number() == 3) metric.bytes = of_metric.Unsigned();
      }
      if (!metric.name.empty() && metric.bytes > 0 && metric.bytes <= 8) metrics.push_back(metric);
    }
    about.layouts.insert_or_assign(type, std::move(metrics));
  }
}

void ReadThreads(std::string_view threads, TraceBuilder& builder, About& about) {
  for (const std::string_view thread : Messages(threads, 1, about.damaged)) {
    int64_t global = kAbsent, name = kAbsent;
    WireReader fields(thread);
    while (fields.Next()) {
      if (fields.number() == 2) name = fields.Int();
      if (fields.number() == 4) global = fields.Int();
    }
    ++about.threads_found;
    if (const std::string_view* text = about.facts.texts.Find(name); text != nullptr && global != kAbsent)
      builder.NameThread(nsys::PidOf(global), nsys::TidOf(global), *text);
  }
}

nsys::Gpu GpuOf(std::string_view message) {
  nsys::Gpu gpu;
  WireReader fields(message);
  while (fields.Next()) switch (fields.number()) {
      case 1: gpu.id = Narrow(fields); break;
      case 2: gpu.name = fields.bytes(); break;
      case 3: gpu.bus = fields.bytes(); break;
      case 5: gpu.uuid = fields.bytes(); break;
      case 11: gpu.memory_bytes = fields.Int(); break;
      case 13: gpu.clock_khz = fields.Int() / 1000; break;
      case 14: gpu.sm_count = Narrow(fields); break;
      case 30: gpu.lanes_per_warp = fields.Int(); break;
      case 32: gpu.warps_per_sm = fields.Int(); break;
      case 41: gpu.compute_major = Narrow(fields); break;
      case 42: gpu.compute_minor = Narrow(fields); break;
      default: break;
    }
  return gpu;
}

// The facts that CUDA gave of a GPU in a process, until 2020.
void ReadGpuOfCuda(std::string_view message, nsys::Gpus& gpus, nsys::Facts& facts) {
  nsys::Gpu gpu;
  int64_t pid = kAbsent;
  WireReader fields(message);
  while (fields.Next()) switch (fields.number()) {
      case 1: gpu.name = fields.bytes(); break;
      case 3: gpu.memory_bytes = fields.Int(); break;
      case 6: gpu.lanes_per_warp = fields.Int(); break;
      case 7: gpu.clock_khz = fields.Int(); break;
      case 9: gpu.sm_count = Narrow(fields); break;
      case 11: gpu.warps_per_sm = fields.Int(); break;
      case 22: gpu.compute_major = Narrow(fields); break;
      case 23: gpu.compute_minor = Narrow(fields); break;
      case 24: gpu.id = Narrow(fields); break;
      case 25: pid = fields.Int(); break;
      case 26: gpu.bus = fields.bytes(); break;
      default: break;
    }
  gpus.AddOfCuda(gpu, pid, facts);
}

// The GPUs of the host, by the numbers that a process calls them.
void ReadGpuOfProcess(std::string_view message, nsys::Facts& facts) {
  int32_t gpu = kAbsent32;
  int64_t cuda = kAbsent, pid = kAbsent;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) gpu = Narrow(fields);
    if (fields.number() == 2) cuda = fields.Int();
    if (fields.number() == 3) pid = fields.Int();
  }
  if (gpu != kAbsent32 && cuda != kAbsent) facts.gpu_of[{pid, cuda}] = gpu;
}

void ReadContext(std::string_view message, nsys::Facts& facts) {
  int64_t hardware = kAbsent, vm = kAbsent, pid = kAbsent;
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 2) hardware = fields.Int();
    if (fields.number() == 3) vm = fields.Int();
    if (fields.number() == 4) pid = fields.Int();
  }
  if (pid != kAbsent) facts.correlations.Know(nsys::ProcessNumber(pid, vm, hardware));
}

void ReadTarget(std::string_view target, TraceBuilder& builder, About& about) {
  nsys::Gpus gpus;
  for (const std::string_view machine : Messages(target, 1, about.damaged))
    for (const std::string_view hardware : Messages(machine, 2, about.damaged)) {
      for (const std::string_view gpu : Messages(hardware, 7, about.damaged)) gpus.Add(GpuOf(gpu));
      for (const std::string_view gpu : Messages(hardware, 1, about.damaged)) ReadGpuOfCuda(gpu, gpus, about.facts);
      for (const std::string_view which : Messages(hardware, 9, about.damaged)) ReadGpuOfProcess(which, about.facts);
    }
  gpus.Give(builder);
  for (const std::string_view context : Messages(target, 14, about.damaged)) ReadContext(context, about.facts);
}

// The facts of the system are pairs of a number and a text.
void ReadHost(std::string_view session, TraceBuilder& builder, About& about) {
  constexpr int64_t kHostname = 619;
  for (const std::string_view header : Messages(session, 1, about.damaged))
    for (const std::string_view facts : Messages(header, 2, about.damaged))
      for (const std::string_view fact : Messages(facts, 1, about.damaged)) {
        int64_t number = kAbsent;
        std::string_view text;
        WireReader fields(fact);
        while (fields.Next()) {
          if (fields.number() == 1) number = fields.Int();
          if (fields.number() == 2) text = fields.bytes();
        }
        if (number == kHostname) builder.info().host = text;
      }
}

}  // namespace

void ReadAbout(Container& report, TraceBuilder& builder, About& about) {
  about.facts.version = VersionOf(report);
  about.facts.correlations.PlaceByPid();
  builder.AddEnvironment("nsys.version", about.facts.version);
  ReadTexts(report, about);
  ReadIndex(report.index, about);
  ReadThreads(report.threads, builder, about);
  ReadTarget(report.target, builder, about);
  ReadHost(report.session, builder, about);
  about.session_start_unix_ns = StartFromOffsets(report.session);
  if (about.session_start_unix_ns == kAbsent) about.session_start_unix_ns = StartFromClocks(report.time_conversions);
}

}  // namespace gapless::internal::nsys_rep
