// SPDX-License-Identifier: Apache-2.0
// Writes manifest.json. Command words and environment values that look like secrets are redacted.
#include "collect/manifest.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "collect/private_files.h"

namespace gapless::internal {
namespace {

constexpr size_t kLargestManifest = size_t{16} << 20;  // bytes; the command of a larger manifest is not read

}  // namespace

template <>
struct Described<GpuFacts> {
  static constexpr FieldInfo kFields[] = {
      Field<&GpuFacts::model>("model", "", "its name"),
      Field<&GpuFacts::uuid>("uuid", "", "the driver's name of it", kUnlessEmpty),
      Field<&GpuFacts::bus_id>("bus_id", "", "its place on the bus", kUnlessEmpty),
  };
};

template <>
struct Described<HostFacts> {
  static constexpr FieldInfo kFields[] = {
      Field<&HostFacts::name>("name", "", "name of the host"),
      Field<&HostFacts::kernel>("kernel", "", "kernel and its version"),
      Field<&HostFacts::cpu>("cpu", "", "processor", kUnlessEmpty),
      Field<&HostFacts::cores>("cores", "count", "processors that the command may use"),
      Field<&HostFacts::memory_bytes>("memory_bytes", "bytes", "memory", kUnlessEmpty),
      Field<&HostFacts::nvidia_driver>("nvidia_driver", "", "version of the driver", kUnlessEmpty),
      Field<&HostFacts::gpus>("gpus", "", "GPUs that the driver lists"),
  };
};

template <>
struct Described<GitFacts> {
  static constexpr FieldInfo kFields[] = {
      Field<&GitFacts::root>("root", "", "folder of the repository"),
      Field<&GitFacts::commit>("commit", "", "commit that is checked out", kUnlessEmpty),
      Field<&GitFacts::branch>("branch", "", "branch that is checked out", kUnlessEmpty),
      Field<&GitFacts::dirty>("dirty", "", "tracked files differ from it"),
      Hidden<&GitFacts::author_unix_ns>(),
  };
};

template <>
struct Described<UnpackedFile> {
  static constexpr FieldInfo kFields[] = {
      Field<&UnpackedFile::path>("path", "", "file"),
      Field<&UnpackedFile::checksum>("xxh128", "", "checksum"),
  };
};

template <>
struct Described<RunEvent> {
  static constexpr FieldInfo kFields[] = {
      Field<&RunEvent::unix_ns>("unix_ns", "ns", "time of it"),
      Field<&RunEvent::text>("text", "", "what happened"),
  };
};

namespace documents {

// The same moment on each clock.
struct ClockMoment {
  int64_t realtime_ns = 0, monotonic_ns = 0, boottime_ns = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&ClockMoment::realtime_ns>("realtime_ns", "ns", "since 1970"),
      Field<&ClockMoment::monotonic_ns>("monotonic_ns", "ns", "CLOCK_MONOTONIC"),
      Field<&ClockMoment::boottime_ns>("boottime_ns", "ns", "CLOCK_BOOTTIME"),
  };
};

struct Process {
  int64_t pid = 0;
  std::string folder{};
  std::string_view role{};
  std::optional<int64_t> rank{}, world_size{};
  std::string versions{}, host{};
  std::string_view state{};
  int64_t steps = 0, records = 0, records_lost = 0, agent_cost_ns = 0;
  std::vector<std::string> recordings{}, messages{};
  static constexpr FieldInfo kFields[] = {
      Field<&Process::pid>("pid", "", "process"),
      Field<&Process::folder>("folder", "", "folder of its files"),
      Field<&Process::role>("role", "", "trains, loads data or only infers"),
      Field<&Process::rank>("rank", "", "rank"),
      Field<&Process::world_size>("world_size", "count", "ranks of the job"),
      Field<&Process::versions>("versions", "", "of Python and PyTorch", kUnlessEmpty),
      Field<&Process::host>("host", "", "name of its host", kUnlessEmpty),
      Field<&Process::state>("state", "", "running, ended, killed or switched off"),
      Field<&Process::steps>("steps", "count", "steps"),
      Field<&Process::records>("records", "count", "records that the agent wrote"),
      Field<&Process::records_lost>("records_lost", "count", "records that were lost", kUnlessEmpty),
      Field<&Process::agent_cost_ns>("agent_cost_ns", "ns", "what the agent took"),
      Field<&Process::recordings>("recordings", "", "files that the profiler wrote"),
      Field<&Process::messages>("messages", "", "warnings and errors", kUnlessEmpty),
  };
};

struct RunManifest {
  std::string_view format = "gapless.run";
  int format_version = kManifestVersion;
  std::string_view state{};
  std::vector<std::string> command{};
  Borrowed<std::string> folder{};
  int64_t started_unix_ns = 0;
  std::optional<int64_t> ended_unix_ns{};
  ClockMoment clock{};
  std::optional<int> exit_status{};
  int signal = 0;
  Borrowed<std::string> agent_options{};
  Borrowed<HostFacts> host{};
  const GitFacts* git = nullptr;
  std::vector<std::pair<std::string, std::string>> environment{};
  Borrowed<std::vector<UnpackedFile>> tools{};
  std::vector<Process> processes{};
  std::vector<std::string> missing{}, incomplete{};
  std::vector<RunEvent> events{};
  static constexpr FieldInfo kFields[] = {
      Field<&RunManifest::format>("format", "", "gapless.run"),
      Field<&RunManifest::format_version>("format_version", "", "its version"),
      Field<&RunManifest::state>("state", "", "running or ended"),
      Field<&RunManifest::command>("command", "", "words of the command"),
      Field<&RunManifest::folder>("folder", "", "its working folder"),
      Field<&RunManifest::started_unix_ns>("started_unix_ns", "ns", "its start"),
      Field<&RunManifest::ended_unix_ns>("ended_unix_ns", "ns", "its end"),
      Field<&RunManifest::clock>("clock", "", "its start on each clock"),
      Field<&RunManifest::exit_status>("exit_status", "", "how it ended"),
      Field<&RunManifest::signal>("signal", "", "signal that ended it", kUnlessEmpty),
      Field<&RunManifest::agent_options>("agent_options", "", "JSON that the agent was given"),
      Field<&RunManifest::host>("host", "", "machine"),
      Field<&RunManifest::git>("git", "", "repository of the working folder"),
      Field<&RunManifest::environment>("environment", "", "variables that change how training runs"),
      Field<&RunManifest::tools>("tools", "", "files that processes loaded"),
      Field<&RunManifest::processes>("processes", "", "processes with an agent"),
      Field<&RunManifest::missing>("missing", "", "what was wanted and not to be had", kUnlessEmpty),
      Field<&RunManifest::incomplete>("incomplete", "", "what could not be written", kUnlessEmpty),
      Field<&RunManifest::events>("events", "", "what happened, in order", kUnlessEmpty),
  };
};

// The part of it that is read back.
struct RecordedCommand {
  std::vector<std::string> command{};
  static constexpr FieldInfo kFields[] = {Field<&RecordedCommand::command>("command", "", "words of the command")};
};

}  // namespace documents

namespace {

std::string TextOf(const char (&bytes)[64]) { return {bytes, ::strnlen(bytes, sizeof bytes)}; }

std::vector<std::string> Redacted(std::vector<std::string> texts) {
  for (std::string& text : texts) text = RedactText(text);
  return texts;
}

// Returns how a process is doing: one that neither ended nor lives was killed.
std::string_view StateOf(const wire::RingHeader& header) {
  if (header.state == wire::AgentState::kOff) return "switched off";
  return header.state == wire::AgentState::kEnded ? "ended" : IsAlive(header.pid) ? "running" : "killed";
}

documents::Process ProcessOf(const AgentProcess& process) {
  const wire::RingHeader& header = process.ring.header();
  const bool only_infers = header.step > 0 && !process.trains;
  documents::Process out;
  out.pid = header.pid;
  out.folder = process.folder;
  out.role = header.role == wire::AgentRole::kLoads ? "loads data" : only_infers ? "only infers" : "trains";
  if (header.rank >= 0) out.rank = header.rank;
  if (header.world_size > 0) out.world_size = header.world_size;
  out.versions = TextOf(header.versions);
  out.host = TextOf(header.host);
  out.state = StateOf(header);
  out.steps = static_cast<int64_t>(header.step);
  out.records = static_cast<int64_t>(header.written);
  out.records_lost = static_cast<int64_t>(process.ring.lost());
  out.agent_cost_ns = static_cast<int64_t>(header.cost_ns);
  out.recordings = process.recordings;
  out.messages = Redacted(process.messages);
  return out;
}

}  // namespace

std::string ManifestJson(const Manifest& manifest, const std::vector<std::unique_ptr<AgentProcess>>& processes) {
  documents::RunManifest document{
      .state = manifest.ended_unix_ns ? "ended" : "running",
      .command = RedactCommand(manifest.command),
      .folder = {&manifest.folder},
      .started_unix_ns = manifest.started_unix_ns,
      .ended_unix_ns = manifest.ended_unix_ns,
      .clock = {manifest.started_unix_ns, manifest.started_monotonic_ns, manifest.started_boottime_ns},
      .exit_status = manifest.exit_status,
      .signal = manifest.signal,
      .agent_options = {&manifest.agent_options},
      .host = {&manifest.host},
      .git = manifest.git ? &*manifest.git : nullptr,
      .environment = manifest.environment,
      .tools = {&manifest.tools},
      .missing = manifest.missing,
      .incomplete = manifest.incomplete,
      .events = manifest.events};
  for (auto& [name, value] : document.environment) value = RedactValue(name, value);
  for (RunEvent& event : document.events) event.text = RedactText(event.text);
  for (const auto& process : processes) document.processes.push_back(ProcessOf(*process));
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  WriteFields(json, document);
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

// A manifest of another program, or one that was cut off, is no reason to fail: the command is then not known.
std::vector<std::string> CommandOfRun(const std::string& folder) {
  std::ifstream file(StrCat(folder, "/", kManifestStem, kManifestEnd), std::ios::binary);
  std::string text(kLargestManifest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  auto read = ReadJson<documents::RecordedCommand>(text);
  return read ? std::move(read->command) : std::vector<std::string>();
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
