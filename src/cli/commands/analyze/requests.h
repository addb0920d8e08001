// SPDX-License-Identifier: Apache-2.0
// The answer of `gapless analyze --requests`: the parts of the time to the first token.
#pragma once

#include <string>
#include <vector>

#include "analyses/first_token.h"
#include "base/describe.h"

namespace gapless::internal {

struct ClientRequests {
  std::vector<ClientRequest> requests{};
  std::string host{};  // the client's machine; empty: not known
};
// Reads the document of `gapless bench --inference --url --json=FILE`.
Result<ClientRequests> ReadClientRequests(const std::string& path);

std::string FirstTokenText(const FirstTokens& tokens);
extern const TypeInfo kFirstTokenDocument;
std::string FirstTokenJson(const FirstTokens& tokens);

}  // namespace gapless::internal
