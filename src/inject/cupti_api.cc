// SPDX-License-Identifier: Apache-2.0
// Opens libcupti at run time: the library that GAPLESS_CUPTI_LIBRARY names, else one that is loaded already, else
// beside the CUDA runtime, by name, in the toolkits. A driver before CUDA 13 has version 12 tried first.
#include "inject/cupti_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "inject/layouts.h"

namespace gapless::internal::inject {

// Searches the folders in which libcupti lies when the loader does not know of it: beside libraries of CUDA that are
// loaded (wheels of pip put it next to them), and in toolkits below /usr/local.

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

namespace {

void* Open(const char* path, int flags) {
  (void)dlerror();
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
}

// Major versions in the order to try. A driver older than CUDA 13 cannot serve CUPTI 13; newer drivers serve both.
struct Majors {
  int of[2] = {13, 12};
};
Majors MajorsToTry() {
  void* const driver = Open("libcuda.so.1", RTLD_NOLOAD);
  if (driver == nullptr) return {};
  using DriverVersion = int (*)(int*);
  const auto version_of = reinterpret_cast<DriverVersion>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  const bool known = version_of != nullptr && version_of(&version) == 0 && version > 0;
  dlclose(driver);
  return known && version < 13000 ? Majors{{12, 13}} : Majors{};
}

void* OpenByName(const Majors& majors, int flags) {
  for (const int major : majors.of) {
    char name[32];
    (void)std::snprintf(name, sizeof name, "libcupti.so.%d", major);
    if (void* const library = Open(name, flags)) return library;
  }
  return nullptr;
}

// Tries the places in the order that the header lists; a library that the user names is the only one tried.
void* OpenAny(const Majors& majors) {
  if (const char* const given = std::getenv("GAPLESS_CUPTI_LIBRARY"); given != nullptr && *given != '\0')
    return Open(given, 0);
  if (void* const library = OpenByName(majors, RTLD_NOLOAD)) return library;
  void* library = nullptr;
  const auto try_path = [](const char* path, void* found) {
    return (*static_cast<void**>(found) = Open(path, 0)) != nullptr;
  };
  if (VisitBesideRuntime(try_path, &library)) return library;
  if ((library = OpenByName(majors, 0)) != nullptr) return library;
  for (const int major : majors.of)
    if (VisitToolkits(major, try_path, &library)) return library;
  return nullptr;
}

// Looks all functions up; returns the name of the first needed one that is missing, or null.
const char* LookUp(CuptiApi& api) {
#define GAPLESS_CUPTI_GET(name) api.name = reinterpret_cast<decltype(api.name)>(dlsym(api.library, #name));
#define GAPLESS_CUPTI_GET_NEEDED(name) \
  GAPLESS_CUPTI_GET(name)              \
  if (api.name == nullptr) return #name;
  GAPLESS_CUPTI_NEEDED(GAPLESS_CUPTI_GET_NEEDED)
  GAPLESS_CUPTI_OPTIONAL(GAPLESS_CUPTI_GET)
  return nullptr;
}

}  // namespace

bool OpenCupti(CuptiApi& api, char* why, size_t why_size) {
  api.library = OpenAny(MajorsToTry());
  if (api.library == nullptr) {
    const char* const error = dlerror();
    (void)std::snprintf(why, why_size, "CUPTI 12 or 13 was not found: %s",
                        error != nullptr ? error : "no such library");
    return false;
  }
  link_map* map = nullptr;
  if (dlinfo(api.library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr)
    (void)std::snprintf(api.path, sizeof api.path, "%s", map->l_name);
  if (const char* const missing = LookUp(api)) {
    (void)std::snprintf(why, why_size, "%.300s lacks %s", api.path, missing);
    return false;
  }
  const CUptiResult result = api.cuptiGetVersion(&api.version);
  if (result != CUPTI_SUCCESS) {
    (void)std::snprintf(why, why_size, "CUPTI does not report its version: %s", ResultText(api, result));
    return false;
  }
  if (!IsKnownVersion(api.version)) {
    (void)std::snprintf(why, why_size, "CUPTI's version %u is not one of CUDA 12 or 13", api.version);
    return false;
  }
  return true;
}

const char* ResultText(const CuptiApi& api, CUptiResult result) {
  const char* text = nullptr;
  if (api.cuptiGetResultString != nullptr && api.cuptiGetResultString(result, &text) == CUPTI_SUCCESS &&
      text != nullptr)
    return text;
  return "CUPTI reports an error";
}

}  // namespace gapless::internal::inject
