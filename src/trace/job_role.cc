// SPDX-License-Identifier: Apache-2.0
#include "trace/job_role.h"

#include <utility>

#include "base/strings.h"
#include "trace/formats.h"
#include "trace/workload.h"

namespace gapless::internal {

Result<RolePattern> ReadRolePattern(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(text), "' is not REGEX=NAME"), "--role",
                "--role 'rollout_[0-9]+=rollout'");
  GAPLESS_ASSIGN(auto pattern, Pattern::Make(text.substr(0, equals), "--role"));
  return RolePattern{std::move(pattern), std::string(text.substr(equals + 1))};
}

std::string SaidRole(const Trace& trace, const RoleChoice& choice) {
  const std::string_view known[] = {trace.info.path, trace.info.host, EnvironmentOf(trace, kJobRoleKey),
                                    EnvironmentOf(trace, kActorKey), EnvironmentOf(trace, kProgramKey)};
  for (const RolePattern& pattern : choice.said)
    for (const std::string_view text : known)
      if (!text.empty() && pattern.matches.IsIn(text)) return pattern.name;
  return std::string(EnvironmentOf(trace, kJobRoleKey));
}

}  // namespace gapless::internal
