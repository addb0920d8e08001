// SPDX-License-Identifier: Apache-2.0
// Many programs write the JSON of chrome://tracing, and most of them have nothing to do with training. A file without
// any category of a profiler of training is none of ours, however well it can be parsed; this says whose it seems to
// be.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "ingest/readers/kineto/fields.h"

namespace gapless::internal::kineto {

// A ForeignSigns object remembers what shows where a file comes from. One per thread; they are added up.
class ForeignSigns {
 public:
  // An event of a category that no profiler of training has.
  void SeeEvent(const EventFields& event);
  // The name that a metadata event gives a process or a thread, or the text around the events.
  void SeeText(std::string_view text);
  void Add(const ForeignSigns& other);

  // "a TensorFlow timeline"; "" if nothing shows it.
  std::string_view Origin() const;
  // The first categories of events by name, quoted; "" if events have none.
  std::string Categories() const;

 private:
  uint32_t seen_ = 0;  // a bit for each known origin
  std::set<std::string, std::less<>> categories_;
};

}  // namespace gapless::internal::kineto
