// SPDX-License-Identifier: Apache-2.0
// Described structs on arbitrary input: what is read is written and read back the same; an error has a place.
#include "proof/described.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/described_json.h"

namespace {

using namespace gapless::internal;

void Check(bool good) {
  if (!good) std::abort();
}

template <class T>
std::string Written(const T& value) {
  std::string out;
  JsonWriter json(out);
  WriteJson(json, value);
  return out;
}

template <class T>
void CheckReader(const JsonValue& json) {
  const auto value = ReadJson<T>(json);
  if (!value) return Check(value.error().place.starts_with("/"));
  const std::string text = Written(*value);
  const auto again = ReadJson<T>(std::string_view(text));
  Check(again && Written(*again) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = JsonValue::Parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  CheckReader<documents::Parity>(*json);
  CheckReader<documents::Metrics>(*json);
  CheckReader<documents::Environment>(*json);
  CheckReader<std::map<std::string, std::vector<JsonScalar>>>(*json);
  return 0;
}
