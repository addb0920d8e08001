// SPDX-License-Identifier: Apache-2.0
// Searches the folders in which libcupti lies when the loader does not know of it: beside libraries of CUDA that are
// loaded (wheels of pip put it next to them), and in toolkits below /usr/local.
#include "inject/cupti_places.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "inject/cupti_api.h"

namespace gapless::internal::inject {
namespace {

struct Search {
  TryPath try_path;
  void* context;
  bool found = false;
};

// Dependents of the CUDA runtime and, where that is linked statically, libraries that come beside it.
constexpr const char* kNeighbours[] = {"libcudart.so.", "libcublas.so.", "libnvrtc.so.", "libcupti.so."};

int VisitLoaded(dl_phdr_info* info, size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  search.found = VisitBeside(info->dlpi_name, search.try_path, search.context);
  return search.found ? 1 : 0;
}

// Tries the files that match, the last in name order first.
bool TryPattern(const char* pattern, TryPath try_path, void* context) {
  glob_t found{};
  bool done = false;
  if (glob(pattern, 0, nullptr, &found) == 0)
    for (size_t i = found.gl_pathc; i-- > 0 && !done;) done = try_path(found.gl_pathv[i], context);
  globfree(&found);
  return done;
}

}  // namespace

bool VisitBeside(const char* library_path, TryPath try_path, void* context) {
  const char* const slash = library_path != nullptr ? std::strrchr(library_path, '/') : nullptr;
  if (slash == nullptr || slash - library_path > 3000) return false;
  for (const char* const neighbour : kNeighbours) {
    if (std::strncmp(slash + 1, neighbour, std::strlen(neighbour)) != 0) continue;
    const int major = std::atoi(slash + 1 + std::strlen(neighbour));
    if (major != 12 && major != 13) continue;
    const int folder = static_cast<int>(slash - library_path);
    for (const char* const below :
         {"", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64", "/../../../extras/CUPTI/lib64"}) {
      char path[kMaxPath];
      (void)std::snprintf(path, sizeof path, "%.*s%s/libcupti.so.%d", folder, library_path, below, major);
      if (try_path(path, context)) return true;
    }
  }
  return false;
}

bool VisitBesideRuntime(TryPath try_path, void* context) {
  // dl_iterate_phdr holds the loader's lock, so the paths are taken first and opened afterwards.
  struct Paths {
    char of[8][kMaxPath];
    int count;
  };
  static constinit Paths paths{};  // used once, while the process starts CUDA
  paths.count = 0;
  const auto keep = [](const char* path, void* into) {
    auto& all = *static_cast<Paths*>(into);
    if (all.count < 8) (void)std::snprintf(all.of[all.count++], kMaxPath, "%s", path);
    return all.count == 8;
  };
  Search search{keep, &paths};
  (void)dl_iterate_phdr(VisitLoaded, &search);
  for (int i = 0; i < paths.count; ++i)
    if (try_path(paths.of[i], context)) return true;
  return false;
}

bool VisitToolkits(int major, TryPath try_path, void* context) {
  char pattern[128];
  for (const char* const below : {"extras/CUPTI/lib64", "targets/*/lib", "lib64"}) {
    (void)std::snprintf(pattern, sizeof pattern, "/usr/local/cuda*/%s/libcupti.so.%d", below, major);
    if (TryPattern(pattern, try_path, context)) return true;
  }
  return false;
}

}  // namespace gapless::internal::inject
