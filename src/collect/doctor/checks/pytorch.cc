// SPDX-License-Identifier: Apache-2.0
// Checks that the python3 on PATH has PyTorch, and one that the agent supports.
#include "base/strings.h"
#include "collect/doctor/check.h"
#include "collect/telemetry/proc.h"

namespace gapless::internal::pytorch_doctorcheck {
namespace {

// Asks for the version without importing PyTorch, which takes seconds.
constexpr const char* kAsk =
    "import sys\n"
    "print('python', '.'.join(map(str, sys.version_info[:3])))\n"
    "try:\n"
    "  from importlib.metadata import version\n"
    "  print('torch', version('torch'))\n"
    "except Exception:\n"
    "  pass\n";
constexpr int64_t kOldestTorch = 2;

std::vector<HealthFinding> Look(const Surroundings& around) {
  const auto lines = around.output_of({"python3", "-c", kAsk});
  if (!lines)
    return {{Health::kWarning, "PyTorch", "there is no python3 on PATH",
             "steps, operators and loaders are recorded inside of Python", "activate the environment you train in"}};
  std::string python, torch;
  for (const std::string& line : *lines) {
    const auto words = Words(line);
    if (words.size() != 2) continue;
    if (words[0] == "python") python = Printable(words[1]);
    if (words[0] == "torch") torch = Printable(words[1]);
  }
  const std::string where = StrCat("python ", python.empty() ? "?" : python);
  if (torch.empty())
    return {{Health::kWarning, "PyTorch", StrCat("not in ", where),
             "steps, operators and loaders are recorded inside of PyTorch", "activate the environment you train in"}};
  const auto major = ToInt(std::string_view(torch).substr(0, torch.find('.')));
  if (major && *major < kOldestTorch)
    return {{Health::kWarning, "PyTorch", StrCat(torch, ", ", where), "the agent needs 2.0 or newer",
             "pip install --upgrade torch"}};
  return {{Health::kOk, "PyTorch", StrCat(torch, ", ", where), "", ""}};
}

}  // namespace

DOCTORCHECK(pytorch) = {.name = "pytorch", .help = "PyTorch of the python3 on PATH", .look = Look};

}  // namespace gapless::internal::pytorch_doctorcheck
