// SPDX-License-Identifier: Apache-2.0
// Fetches one address again and again, on a thread of its own: whoever asks never waits.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace gapless::internal {

class Fetcher {
 public:
  // Plain HTTP ("http://host:9400/metrics"), every `period_ms`. A usage error when this is no such address. What cannot
  // be reached is tried again.
  static Result<std::unique_ptr<Fetcher>> Start(const std::string& url, int period_ms);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // The latest answer, once; nullopt while there is no new one.
  std::optional<std::string> Take();

 private:
  struct Impl;
  explicit Fetcher(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gapless::internal
