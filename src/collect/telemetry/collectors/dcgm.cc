// SPDX-License-Identifier: Apache-2.0
// Profiling fields of NVIDIA's data centre GPU manager: how busy the multiprocessors, the tensor cores and the memory
// are, measured by the hardware. From a DCGM exporter when DCGM_EXPORTER_URL names one, else from
// `dcgmi dmon`. Both are other programs, so nothing here waits: what has come by a tick is taken.
//
// The manager and a kernel profiler cannot use the hardware's counters at the same time: while one runs, the other has
// no values.
#include <cstdlib>

#include "base/strings.h"
#include "collect/telemetry/child_lines.h"
#include "collect/telemetry/collector.h"
#include "collect/telemetry/fetcher.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::dcgm_collector {
namespace {

struct Field {
  int number;
  std::string_view exporter;  // name in the exporter's text
  std::string_view series, unit;
};
constexpr Field kFields[] = {
    {1001, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gpu.dcgm.engine_active", "share"},
    {1002, "DCGM_FI_PROF_SM_ACTIVE", "gpu.dcgm.sm_active", "share"},
    {1003, "DCGM_FI_PROF_SM_OCCUPANCY", "gpu.dcgm.sm_occupancy", "share"},
    {1004, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gpu.dcgm.tensor_active", "share"},
    {1005, "DCGM_FI_PROF_DRAM_ACTIVE", "gpu.dcgm.dram_active", "share"},
    {1006, "DCGM_FI_PROF_PIPE_FP64_ACTIVE", "gpu.dcgm.fp64_active", "share"},
    {1007, "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "gpu.dcgm.fp32_active", "share"},
    {1008, "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "gpu.dcgm.fp16_active", "share"},
    {1009, "DCGM_FI_PROF_PCIE_TX_BYTES", "gpu.dcgm.pcie.send", "bytes/s"},
    {1010, "DCGM_FI_PROF_PCIE_RX_BYTES", "gpu.dcgm.pcie.receive", "bytes/s"},
    {1011, "DCGM_FI_PROF_NVLINK_TX_BYTES", "gpu.dcgm.nvlink.send", "bytes/s"},
    {1012, "DCGM_FI_PROF_NVLINK_RX_BYTES", "gpu.dcgm.nvlink.receive", "bytes/s"},
};
constexpr int kFetchPeriodMs = 1000;  // exporters look once a second at most

// "GPU 0  0.912  0.874  N/A …": the columns come in the order in which they were asked for; headers begin otherwise.
void TakeDmonLine(std::string_view line, SampleSink& sink) {
  const auto words = Words(line);
  if (words.size() != 2 + std::size(kFields) || words[0] != "GPU") return;
  const auto device = ToInt(words[1]);
  if (!device || *device < 0 || *device > INT32_MAX) return;
  for (size_t i = 0; i < std::size(kFields); ++i)
    if (const auto value = ToReal(words[i + 2]))
      sink.Value(kFields[i].series, kFields[i].unit, *value, static_cast<int32_t>(*device));
}

// `DCGM_FI_PROF_SM_ACTIVE{gpu="0",UUID="…"} 0.87`. Lines of MIG slices are left out: their sum is not the GPU's value.
void TakeExporterLine(std::string_view line, SampleSink& sink) {
  const size_t open = line.find('{'), close = line.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  const std::string_view name = line.substr(0, open), labels = line.substr(open, close - open);
  constexpr std::string_view kGpu = "gpu=\"";
  const size_t at = labels.find(kGpu);
  if (at == std::string_view::npos || labels.find("GPU_I_ID=\"") != std::string_view::npos) return;
  const std::string_view rest = labels.substr(at + kGpu.size());
  const auto device = ToInt(rest.substr(0, rest.find('"')));
  const auto words = Words(line.substr(close + 1));
  const auto value = words.empty() ? std::nullopt : ToReal(words[0]);
  if (!device || *device < 0 || *device > INT32_MAX || !value) return;
  for (const Field& field : kFields)
    if (field.exporter == name) sink.Value(field.series, field.unit, *value, static_cast<int32_t>(*device));
}

// A DmonSession reads a `dcgmi dmon` that prints every 100 ms, for as long as the session lives.
class DmonSession : public CollectorSession {
 public:
  explicit DmonSession(const std::string& program) {
    std::string fields;
    for (const Field& field : kFields) fields += StrCat(fields.empty() ? "" : ",", field.number);
    child_.Start({program, "dmon", "-e", fields, "-d", "100"});
  }
  void Sample(const Tick&, SampleSink& sink) override {
    for (const std::string& line : child_.Take()) TakeDmonLine(line, sink);
  }

 private:
  ChildLines child_;
};

// An ExporterSession takes the newest answer of a DCGM exporter; between two answers it writes nothing.
class ExporterSession : public CollectorSession {
 public:
  explicit ExporterSession(std::unique_ptr<Fetcher> fetcher) : fetcher_(std::move(fetcher)) {}
  void Sample(const Tick&, SampleSink& sink) override {
    const auto answer = fetcher_->Take();
    if (!answer) return;
    for (const std::string_view line : Lines(*answer)) TakeExporterLine(line, sink);
  }

 private:
  std::unique_ptr<Fetcher> fetcher_;
};

Result<std::unique_ptr<CollectorSession>> Open(const TelemetrySources& sources, SampleSink&) {
  const char* given = std::getenv("DCGM_EXPORTER_URL");
  const std::string url = !sources.exporter_url.empty() ? sources.exporter_url : given != nullptr ? given : "";
  if (!url.empty()) {
    GAPLESS_ASSIGN(auto fetcher, Fetcher::Start(url, kFetchPeriodMs));
    return std::unique_ptr<CollectorSession>(std::make_unique<ExporterSession>(std::move(fetcher)));
  }
  const std::string program = FindProgram(sources.dcgmi);
  if (program.empty()) return Fail(ErrorCode::kEnvironment, "neither DCGM_EXPORTER_URL nor dcgmi is there");
  return std::unique_ptr<CollectorSession>(std::make_unique<DmonSession>(program));
}

}  // namespace

COLLECTOR(dcgm) = {.name = "dcgm",
                   .help = "NVIDIA GPUs: profiling fields 1001 to 1012 of DCGM, from dcgmi or an exporter",
                   .open = Open};

}  // namespace gapless::internal::dcgm_collector
