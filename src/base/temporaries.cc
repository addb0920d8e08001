// SPDX-License-Identifier: Apache-2.0
// Keeps the list of unfinished files, which is deleted when a signal ends the program. Not to be called from a
// signal handler: it takes a lock and allocates memory.
#include "base/temporaries.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace gapless::internal {
namespace {

struct Remembered {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: threads may still ask while the program ends.
Remembered& All() {
  static Remembered& all = *new Remembered;
  return all;
}

}  // namespace

void RememberTemporary(const std::string& path) {
  const std::lock_guard lock(All().mutex);
  All().paths.insert(path);
}

void ForgetTemporary(const std::string& path) {
  const std::lock_guard lock(All().mutex);
  All().paths.erase(path);
}

void RemoveTemporaries() {
  const std::lock_guard lock(All().mutex);
  // A folder comes before what is in it.
  for (auto path = All().paths.rbegin(); path != All().paths.rend(); ++path) (void)std::remove(path->c_str());
  All().paths.clear();
}

}  // namespace gapless::internal
