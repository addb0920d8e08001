// SPDX-License-Identifier: Apache-2.0
// Collects the facts about host, GPUs, git commit and environment. Git is called without running anything that the
// repository's configuration names, and each question to it has a time limit of 5 s. Variables are taken by a list
// of names and prefixes, not by leaving out bad ones, because any variable may hold a secret.
#include "collect/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "base/redact.h"
#include "base/strings.h"
#include "collect/telemetry/proc.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): only GNU headers have it

namespace gapless::internal {
namespace {

constexpr std::string_view kPrefixes[] = {
    "CUDA_",  "NCCL_",     "NVIDIA_", "HIP_",    "ROCR_",    "RCCL_", "OMP_", "MKL_", "KMP_",  "TORCH",  "PYTORCH",
    "SLURM_", "OMPI_COMM", "PMI_",    "KINETO_", "GAPLESS_", "GLOO_", "XLA_", "UCX_", "TF32_", "CUBLAS", "CUDNN"};
constexpr std::string_view kNames[] = {"RANK",        "WORLD_SIZE",   "LOCAL_RANK",  "LOCAL_WORLD_SIZE", "MASTER_ADDR",
                                       "MASTER_PORT", "CONDA_PREFIX", "VIRTUAL_ENV", "LD_PRELOAD",       "MALLOC_CONF",
                                       "TZ",          "LANG",         "PATH",        "PYTHONPATH"};

// Returns true if the variable's name is on the lists and is not that of a secret.
bool Matters(std::string_view name) {
  if (IsSecretName(name)) return false;
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// The text after "key" and a colon in a file of such lines.
std::string ValueOf(const std::string& text, std::string_view key) {
  for (const std::string_view line : Split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(key)) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    if (start == std::string_view::npos) return "";
    return std::string(line.substr(start, line.find_last_not_of(" \t") - start + 1));
  }
  return "";
}

int64_t MemoryBytes(const std::string& proc) {
  return NumberAfter(ContentOf(proc + "/meminfo"), "MemTotal").value_or(0) * 1024;
}

// Returns the processors that this process may run on, which may be fewer than the machine has.
int64_t UsableCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return ::sysconf(_SC_NPROCESSORS_ONLN);
}

// Returns the output of git, without running anything that the repository's configuration names.
std::optional<std::string> Git(const std::string& folder, std::string_view question) {
  std::string quoted = "'";
  for (const char c : folder) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  quoted += "'";
  const std::string line = StrCat("GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 timeout 5 git -c core.fsmonitor=false ",
                                  "-c core.hooksPath=/dev/null -C ", quoted, " ", question, " 2>/dev/null </dev/null");
  FILE* const pipe = ::popen(line.c_str(), "re");  // NOLINT(cert-env33-c): nothing of it comes from a recording
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> buffer;
  size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) text.append(buffer.data(), got);
  if (::pclose(pipe) != 0) return std::nullopt;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The time in a commit's line "author NAME <MAIL> SECONDS ZONE".
std::optional<int64_t> AuthorUnixNs(std::string_view commit) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  for (const std::string_view line : Split(commit, '\n')) {
    if (line.empty()) return std::nullopt;  // the message begins
    if (!line.starts_with("author ")) continue;
    const std::string_view rest = line.substr(std::min(line.rfind('>'), line.size() - 1) + 1);
    const std::string_view digits = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    int64_t seconds = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    if (code != std::errc() || seconds <= 0 || seconds > INT64_MAX / kSecondNs) return std::nullopt;
    return seconds * kSecondNs;
  }
  return std::nullopt;
}

}  // namespace

HostFacts DescribeHost(const std::string& proc) {
  HostFacts facts;
  utsname system{};
  if (::uname(&system) == 0) {
    facts.name = system.nodename;
    facts.kernel = StrCat(system.sysname, " ", system.release, " ", system.machine);
  }
  facts.cpu = ValueOf(ContentOf(proc + "/cpuinfo"), "model name");
  facts.cores = UsableCores();
  facts.memory_bytes = MemoryBytes(proc);
  const std::string driver = proc + "/driver/nvidia";
  for (const std::string& gpu : NamesIn(driver + "/gpus")) {
    const std::string text = ContentOf(StrCat(driver, "/gpus/", gpu, "/information"));
    facts.gpus.push_back({ValueOf(text, "Model"), ValueOf(text, "GPU UUID"), ValueOf(text, "Bus Location")});
  }
  const std::string version = ContentOf(driver + "/version");
  facts.nvidia_driver = std::string(Split(version, '\n').front());
  return facts;
}

std::optional<GitFacts> DescribeGit(const std::string& folder) {
  const auto root = Git(folder, "rev-parse --show-toplevel");
  if (!root) return std::nullopt;
  GitFacts facts{.root = *root, .commit = {}, .branch = {}, .dirty = {}};
  facts.commit = Git(folder, "rev-parse HEAD").value_or("");
  facts.branch = Git(folder, "symbolic-ref --short -q HEAD").value_or("");
  const auto changes = Git(folder, "status --porcelain --untracked-files=no --ignore-submodules=all");
  if (changes) facts.dirty = !changes->empty();
  facts.author_unix_ns = AuthorUnixNs(Git(folder, "cat-file commit HEAD").value_or(""));
  return facts;
}

std::vector<std::pair<std::string, std::string>> RelevantEnvironment() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line = *at;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || !Matters(line.substr(0, equals))) continue;
    found.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace gapless::internal
