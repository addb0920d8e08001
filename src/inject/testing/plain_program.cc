// SPDX-License-Identifier: Apache-2.0
// A program as the CUDA driver would run it: loads the library that CUDA_INJECTION64_PATH names, calls its door, does
// its "GPU work" (the stand-in plays it) and ends in the way asked for.
//
//   plain_program LIBCUPTI LAUNCHES [exit|_exit|kill|fork|several|status|exec|nvtx]
//
// LIBCUPTI: the stand-in, "" for none. kill: waits until what was played is written, plays once more and dies by
// SIGKILL. fork: a child plays and exits too. exec: becomes itself once more, which plays and exits. nvtx: hands NVTX
// to the library and ends with what that says. Prints the stand-in's time at which the scenario began, and the pid.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "inject/testing/scenario.h"

#ifdef GAPLESS_LIKE_PYTHON
// NOLINTNEXTLINE(readability-identifier-naming): by this name Python processes are known
extern "C" __attribute__((visibility("default"))) int Py_IsInitialized() { return 1; }
#endif

namespace {

using gapless::internal::inject::testing::Scenario;

template <class Function>
Function Symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

struct Played {
  void* library = nullptr;
  Scenario scenario;
  void Play(uint32_t launches) {
    scenario.launches = launches;
    Symbol<void (*)(const Scenario*)>(library, "stand_in_play")(&scenario);
    scenario.first += launches;
  }
  void GiveBack() { Symbol<void (*)()>(library, "stand_in_give_back")(); }
};

int End(const std::string& how, Played& played, char** argv) {
  if (how == "_exit") _exit(0);
  if (how == "status") return 7;
  if (how == "kill" && played.library != nullptr) {
    played.GiveBack();
    usleep(2'500'000);
    played.Play(5);
    (void)raise(SIGKILL);
  }
  if (how == "exec") {
    played.GiveBack();
    usleep(1'500'000);
    (void)execl("/proc/self/exe", argv[0], argv[1], argv[2], "exit", nullptr);
    return 1;
  }
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      if (played.library != nullptr) played.Play(50);
      std::exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  // A few times more, with a second between: a stream of several blocks, as samples/stand_in.gcs.
  for (int i = 0; how == "several" && i < 5; ++i) {
    played.GiveBack();
    usleep(1'200'000);
    played.Play(200);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Played played;
  if (argv[1][0] != '\0') played.library = dlopen(argv[1], RTLD_NOW);
  if (const char* const path = std::getenv("CUDA_INJECTION64_PATH")) {
    void* const injected = dlopen(path, RTLD_NOW);
    if (injected == nullptr) return (void)std::fprintf(stderr, "%s\n", dlerror()), 3;
    const auto door = Symbol<int (*)()>(injected, "InitializeInjection");
    if (door == nullptr || door() != 1 || door() != 1) return 4;  // the second call must change nothing
    if (argc > 3 && std::string(argv[3]) == "nvtx")
      return Symbol<int (*)(void*)>(injected, "InitializeInjectionNvtx2")(&played);
  }
  if (played.library != nullptr) {
    uint64_t now = 0;
    (void)Symbol<int (*)(uint64_t*)>(played.library, "cuptiGetTimestamp")(&now);
    played.scenario.base_ns = now != 0 ? now : 1'700'000'000'000'000'000;
    played.scenario.thread = static_cast<uint32_t>(getpid());
    std::printf("%llu %d\n", static_cast<unsigned long long>(played.scenario.base_ns), getpid());
    std::fflush(stdout);
    played.Play(static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)));
  }
  return End(argc > 3 ? argv[3] : "exit", played, argv);
}
