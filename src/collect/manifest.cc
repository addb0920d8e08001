// SPDX-License-Identifier: Apache-2.0
// Writes manifest.json. Command words and environment values that look like secrets are redacted.
#include "collect/manifest.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json_writer.h"
#include "base/redact.h"
#include "base/strings.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

std::string_view TextOf(const char (&bytes)[64]) { return {bytes, ::strnlen(bytes, sizeof bytes)}; }

void WriteHost(JsonWriter& json, const HostFacts& host) {
  json.Key("host");
  json.BeginObject();
  json.Field("name", host.name);
  json.Field("kernel", host.kernel);
  json.FieldUnlessEmpty("cpu", host.cpu);
  json.Field("cores", host.cores);
  if (host.memory_bytes > 0) json.Field("memory_bytes", host.memory_bytes);
  json.FieldUnlessEmpty("nvidia_driver", host.nvidia_driver);
  json.Key("gpus");
  json.BeginArray();
  for (const GpuFacts& gpu : host.gpus) {
    json.BeginObject();
    json.Field("model", gpu.model);
    json.FieldUnlessEmpty("uuid", gpu.uuid);
    json.FieldUnlessEmpty("bus_id", gpu.bus_id);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteClocks(JsonWriter& json, const Manifest& manifest) {
  json.Field("started_unix_ns", manifest.started_unix_ns);
  json.Field("ended_unix_ns", manifest.ended_unix_ns);
  json.Key("clock");  // the same moment on each clock
  json.BeginObject();
  json.Field("realtime_ns", manifest.started_unix_ns);
  json.Field("monotonic_ns", manifest.started_monotonic_ns);
  json.Field("boottime_ns", manifest.started_boottime_ns);
  json.EndObject();
}

void WriteGit(JsonWriter& json, const GitFacts& git) {
  json.Key("git");
  json.BeginObject();
  json.Field("root", git.root);
  json.FieldUnlessEmpty("commit", git.commit);
  json.FieldUnlessEmpty("branch", git.branch);
  json.Field("dirty", git.dirty);
  json.EndObject();
}

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

std::vector<std::string> Redacted(std::vector<std::string> texts) {
  for (std::string& text : texts) text = RedactText(text);
  return texts;
}

// Returns how a process is doing: one that neither ended nor lives was killed.
std::string_view StateOf(const wire::RingHeader& header) {
  if (header.state == wire::AgentState::kOff) return "switched off";
  return header.state == wire::AgentState::kEnded ? "ended" : IsAlive(header.pid) ? "running" : "killed";
}

void WriteProcess(JsonWriter& json, const AgentProcess& process) {
  const wire::RingHeader& header = process.ring.header();
  json.BeginObject();
  json.Field("pid", header.pid);
  json.Field("folder", process.folder);
  const bool only_infers = header.step > 0 && !process.trains;
  json.Field("role", header.role == wire::AgentRole::kLoads ? "loads data" : only_infers ? "only infers" : "trains");
  if (header.rank >= 0) json.Field("rank", header.rank);
  if (header.world_size > 0) json.Field("world_size", header.world_size);
  json.FieldUnlessEmpty("versions", TextOf(header.versions));
  json.FieldUnlessEmpty("host", TextOf(header.host));
  json.Field("state", StateOf(header));
  json.Field("steps", header.step);
  json.Field("records", header.written);
  if (process.ring.lost() > 0) json.Field("records_lost", process.ring.lost());
  json.Field("agent_cost_ns", header.cost_ns);
  WriteTexts(json, "recordings", process.recordings);
  if (!process.messages.empty()) WriteTexts(json, "messages", Redacted(process.messages));
  json.EndObject();
}

void WriteEvents(JsonWriter& json, const std::vector<RunEvent>& events) {
  json.Key("events");
  json.BeginArray();
  for (const RunEvent& event : events) {
    json.BeginObject();
    json.Field("unix_ns", event.unix_ns);
    json.Field("text", RedactText(event.text));
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string ManifestJson(const Manifest& manifest, const std::vector<std::unique_ptr<AgentProcess>>& processes) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("format", "gapless.run");
  json.Field("format_version", kManifestVersion);
  json.Field("state", manifest.ended_unix_ns ? "ended" : "running");
  WriteTexts(json, "command", RedactCommand(manifest.command));
  json.Field("folder", manifest.folder);
  WriteClocks(json, manifest);
  json.Field("exit_status", manifest.exit_status);
  if (manifest.signal != 0) json.Field("signal", manifest.signal);
  json.Field("agent_options", manifest.agent_options);
  WriteHost(json, manifest.host);
  if (manifest.git) WriteGit(json, *manifest.git);
  json.Key("environment");
  json.BeginObject();
  for (const auto& [name, value] : manifest.environment) json.Field(name, RedactValue(name, value));
  json.EndObject();
  json.Key("tools");
  json.BeginArray();
  for (const UnpackedFile& tool : manifest.tools) {
    json.BeginObject();
    json.Field("path", tool.path);
    json.Field("xxh128", tool.checksum);
    json.EndObject();
  }
  json.EndArray();
  json.Key("processes");
  json.BeginArray();
  for (const auto& process : processes) WriteProcess(json, *process);
  json.EndArray();
  if (!manifest.missing.empty()) WriteTexts(json, "missing", manifest.missing);
  if (!manifest.incomplete.empty()) WriteTexts(json, "incomplete", manifest.incomplete);
  if (!manifest.events.empty()) WriteEvents(json, manifest.events);
  json.EndObject();
  return out + "\n";
}

// Replaces the manifest atomically. Space for the last version is reserved at the start, so that a full disk does not
// lose the end of a run.

namespace {

constexpr off_t kReservedBytes = off_t{1} << 18;  // hundreds of processes

}  // namespace

ManifestFile::ManifestFile(const RunFolder& run, std::string name) : run_(&run), name_(std::move(name)) {}

ManifestFile::ManifestFile(ManifestFile&& other) noexcept
    : run_(other.run_),
      name_(std::move(other.name_)),
      reserve_name_(std::exchange(other.reserve_name_, {})),
      reserve_(std::move(other.reserve_)) {}

void ManifestFile::GiveUpReserve() {
  reserve_ = Descriptor();
  if (!reserve_name_.empty()) ::unlinkat(run_->descriptor(), reserve_name_.c_str(), 0);
  reserve_name_.clear();
}

Result<ManifestFile> ManifestFile::Make(const RunFolder& run, const std::string& name, std::string_view content) {
  ManifestFile file(run, name);
  // The name first: who makes it is the one who has it.
  const Descriptor mine = MakeFileIn(run.descriptor(), name);
  if (!mine && errno == EEXIST)
    return Fail(ErrorCode::kUsage, "the folder for the run is not empty", run.name(),
                "name another with -o; nothing of an earlier run is replaced");
  if (!mine) return SystemFailure("cannot write the file", run.File(name), errno);
  file.reserve_name_ = TemporaryNameFor(name);
  file.reserve_ = MakeFileIn(run.descriptor(), file.reserve_name_);
  // A disk that is nearly full has no place to keep; the run begins all the same.
  if (file.reserve_) (void)::posix_fallocate(file.reserve_.get(), 0, kReservedBytes);
  GAPLESS_TRY(WriteFileIn(run.descriptor(), name, run.File(name), content));
  return file;
}

// Writes into the reserved file, cuts it to length and renames it over the manifest, so the disk needs no new
// space. Without a reserve the manifest is written like any other file.
Result<void> ManifestFile::Replace(std::string_view content) {
  const int folder = run_->descriptor();
  const bool written = reserve_ && ::lseek(reserve_.get(), 0, SEEK_SET) == 0 && WriteAll(reserve_.get(), content) &&
                       ::ftruncate(reserve_.get(), static_cast<off_t>(content.size())) == 0 &&
                       ::renameat(folder, reserve_name_.c_str(), folder, name_.c_str()) == 0;
  if (written) reserve_name_.clear();
  GiveUpReserve();
  return written ? Result<void>() : WriteFileIn(folder, name_, run_->File(name_), content);
}

}  // namespace gapless::internal
