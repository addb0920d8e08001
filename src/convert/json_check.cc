// SPDX-License-Identifier: Apache-2.0
// Checks JSON texts with simdjson, whose headers stay behind this file. The parser keeps its memory from text to
// text.
#include "convert/json_check.h"

#include <simdjson.h>

#include <new>

namespace gapless::internal {

struct JsonCheck::Impl {
  simdjson::dom::parser parser;
};

JsonCheck::JsonCheck() : impl_(std::make_unique<Impl>()) {}
JsonCheck::~JsonCheck() = default;

bool JsonCheck::IsValue(std::string_view text) {
  simdjson::dom::element element;
  const simdjson::error_code error = impl_->parser.parse(text.data(), text.size()).get(element);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error == simdjson::SUCCESS;
}

}  // namespace gapless::internal
