// SPDX-License-Identifier: Apache-2.0
// A schema of the answers of a server's routes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/describe.h"

namespace gapless::internal {

// A route, as its address has it with ID for an id, and what it answers: a value of a type; or the document of a
// command, which has a schema of its own; or, with both, an object with the document, under the command's name, beside
// the fields of the type.
struct DescribedRoute {
  std::string_view path;
  const TypeInfo* type = nullptr;
  std::string_view command = {};
};

// JSON Schema (draft 2020-12) of an object with an answer for each route, none of which need be there.
std::string SchemaOfRoutes(std::string_view server, std::span<const DescribedRoute> routes);

}  // namespace gapless::internal
