// SPDX-License-Identifier: Apache-2.0
// Implements the boards by NVML, and the watchdog by a pair of sockets: it acts when ours is closed.
//
// The watchdog is forked twice and has a session of its own, so that it is no child of ours, and signals to our group
// or from our terminal do not reach it. It opens NVML itself and right away: later there might be no way to. No answer
// of a driver is shared over the fork.
#include "collect/power.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kMilli = 1e-3;
constexpr int kAnswerMs = 10'000;  // a driver that has to wake up takes seconds

// An order to the watchdog: the limit of a board by NVML's number; the last of a list ends it.
struct LimitOrder {
  uint32_t board = 0, milliwatts = 0;
  uint32_t is_last = 0;
};
constexpr LimitOrder kAllIsWell{.is_last = 2};

bool ReadWhole(int socket, void* into, size_t bytes) {
  for (auto* at = static_cast<char*>(into); bytes > 0;) {
    const ssize_t got = ::read(socket, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got, bytes -= static_cast<size_t>(got);
  }
  return true;
}

// Less than a socket holds. No signal comes where the other side is gone.
bool WriteWhole(int socket, const void* from, size_t bytes) {
  return ::send(socket, from, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

uint32_t ToMilliwatts(double watts) { return static_cast<uint32_t>(std::lround(watts / kMilli)); }

bool SetLimitOf(const nvml::Library& library, uint32_t board, uint32_t milliwatts) {
  const auto set = library.call().DeviceSetPowerManagementLimit;
  return set != nullptr && board < library.devices().size() && library.devices()[board] != nullptr &&
         set(library.devices()[board], milliwatts) == nvml::kSuccess;
}

// Closes all files but one: a reader of our output waits for its end.
void CloseOthers(int kept) {
  const auto number = static_cast<unsigned>(kept);
  const auto close_range = [](unsigned first, unsigned last) {
    if (::syscall(SYS_close_range, first, last, 0) == 0) return;
    for (unsigned file = first; file <= std::min(last, 4096U); ++file) ::close(static_cast<int>(file));
  };
  if (number > 0) close_range(0, number - 1);
  close_range(number + 1, ~0U);
}

// The watchdog's whole life, in its process.
[[noreturn]] void KeepLimits(const std::string& name, int socket) {
  CloseOthers(socket);
  ::prctl(PR_SET_NAME, "gapless-power");
  const auto library = nvml::Library::Open(name);
  const pid_t pid = library ? ::getpid() : -1;
  if (!WriteWhole(socket, &pid, sizeof pid) || !library) ::_exit(1);
  std::vector<LimitOrder> kept;
  for (LimitOrder order; ReadWhole(socket, &order, sizeof order);) {
    if (order.is_last == kAllIsWell.is_last) ::_exit(0);
    kept.push_back(order);
    if (order.is_last == 1 && !WriteWhole(socket, &pid, sizeof pid)) break;
  }
  for (const LimitOrder& order : kept) SetLimitOf(**library, order.board, order.milliwatts);
  ::_exit(0);
}

// The child of the fork only forks again: its own child belongs to nobody that we could take along.
[[noreturn]] void ForkAgain(const std::string& name, int socket) {
  ::setsid();
  const pid_t again = ::fork();
  if (again != 0) ::_exit(again < 0 ? 1 : 0);
  KeepLimits(name, socket);
}

Unexpected NoWatchdog() {
  return Fail(ErrorCode::kEnvironment, "no process could be started that gives the power limits back", "",
              "without it no limit is changed; free some processes (ulimit -u), or read what the NVIDIA driver says: "
              "nvidia-smi");
}

// Returns the board that a word of CUDA_VISIBLE_DEVICES means; none: no board of this machine.
std::optional<unsigned> IndexOf(const nvml::Library& library, std::string_view word) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number < library.devices().size()) return number;
  for (unsigned i = 0; i < library.devices().size(); ++i)
    if (!word.empty() && library.UuidOf(library.devices()[i]).starts_with(word)) return i;
  return std::nullopt;
}

std::vector<int64_t> ProcessesOn(const nvml::Library& library, unsigned board) {
  std::vector<nvml::Process> found(256);
  auto count = static_cast<unsigned>(found.size());
  const auto list = library.call().DeviceGetComputeRunningProcesses_v3;
  if (list == nullptr || list(library.devices()[board], &count, found.data()) != nvml::kSuccess) return {};
  std::vector<int64_t> pids;
  for (unsigned i = 0; i < std::min<size_t>(count, found.size()); ++i) pids.push_back(found[i].pid);
  return pids;
}

Unexpected CannotTune(const PowerBoard& board, std::string_view why, std::string_view hint) {
  return Fail(ErrorCode::kEnvironment, std::string(why), StrCat("GPU ", board.index, " (", board.name, ")"),
              std::string(hint));
}

}  // namespace

Result<void> MayChangeGpuSettings() {
  const char* keep = std::getenv(kKeepGpuSettings);
  if (keep == nullptr || *keep == '\0' || std::string_view(keep) == "0") return {};
  return Fail(ErrorCode::kEnvironment, "settings of this machine's GPUs are not to be changed", kKeepGpuSettings,
              "tune power on a machine of your own");
}

Result<LimitWatchdog> LimitWatchdog::Start(const std::string& library) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return NoWatchdog();
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) ForkAgain(library, ends[1]);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  LimitWatchdog watchdog(ends[0]);
  if (child < 0) return NoWatchdog();
  ::waitpid(child, nullptr, 0);
  if (!watchdog.ReadAnswer(&watchdog.pid_, sizeof watchdog.pid_) || watchdog.pid_ < 0) {
    const auto opened = nvml::Library::Open(library);  // which says why
    if (!opened) return Unexpected{opened.error()};
    return NoWatchdog();
  }
  return watchdog;
}

LimitWatchdog::LimitWatchdog(LimitWatchdog&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), pid_(other.pid_) {}

LimitWatchdog::~LimitWatchdog() {
  if (socket_ < 0) return;
  WriteWhole(socket_, &kAllIsWell, sizeof kAllIsWell);
  ::close(socket_);
}

bool LimitWatchdog::ReadAnswer(void* into, size_t bytes) const {
  pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
  int ready = 0;
  do ready = ::poll(&wait, 1, kAnswerMs);
  while (ready < 0 && errno == EINTR);
  return ready == 1 && ReadWhole(socket_, into, bytes);
}

bool LimitWatchdog::IsAlive() const {
  pollfd look{.fd = socket_, .events = 0, .revents = 0};
  return ::poll(&look, 1, 0) <= 0;
}

Result<void> LimitWatchdog::Keep(std::span<const PowerBoard> boards) {
  for (size_t i = 0; i < boards.size(); ++i) {
    const LimitOrder order{.board = boards[i].index,
                           .milliwatts = ToMilliwatts(boards[i].limit_w),
                           .is_last = i + 1 == boards.size() ? 1U : 0U};
    if (!WriteWhole(socket_, &order, sizeof order)) return NoWatchdog();
  }
  pid_t answer = 0;
  if (!ReadAnswer(&answer, sizeof answer)) return NoWatchdog();
  return {};
}

Result<PowerBoards> PowerBoards::Open(const std::string& library, const std::optional<std::string>& visible) {
  GAPLESS_TRY(MayChangeGpuSettings());
  PowerBoards boards;
  GAPLESS_ASSIGN(boards.library_, nvml::Library::Open(library));
  boards.names_devices_ = visible.has_value();
  const auto count = static_cast<unsigned>(boards.library_->devices().size());
  if (!visible) {
    for (unsigned i = 0; i < count; ++i)
      if (boards.library_->devices()[i] != nullptr) GAPLESS_TRY(boards.Add(i));
  } else {
    for (const std::string_view word : Split(*visible, ',')) {
      const auto index = IndexOf(*boards.library_, word);
      if (!index) break;  // as the driver does: those after the first that is none are not visible either
      GAPLESS_TRY(boards.Add(*index));
    }
  }
  if (boards.boards_.empty())
    return Fail(ErrorCode::kEnvironment, "no GPU is there whose power could be tuned", "", "nvidia-smi shows the GPUs");
  return boards;
}

Result<void> PowerBoards::Add(unsigned index) {
  const nvml::Device device = library_->devices()[index];
  const auto& call = library_->call();
  PowerBoard board{.index = index, .name = library_->NameOf(device), .uuid = library_->UuidOf(device)};
  unsigned now = 0, pending = 0;
  if (call.DeviceGetMigMode != nullptr && call.DeviceGetMigMode(device, &now, &pending) == nvml::kSuccess && now == 1)
    return CannotTune(board, "the GPU is divided (MIG): its energy belongs to no part of it",
                      "tune power on a GPU that is not divided: nvidia-smi -mig 0 undoes it");
  if (!nvml::Ask(call.DeviceGetTotalEnergyConsumption, device))
    return CannotTune(board, "the GPU has no energy counter", "it takes a GPU of the Volta generation or newer");
  unsigned least = 0, most = 0;
  const auto limit = nvml::Ask(call.DeviceGetPowerManagementLimit, device);
  if (!limit || call.DeviceGetPowerManagementLimitConstraints == nullptr ||
      call.DeviceGetPowerManagementLimitConstraints(device, &least, &most) != nvml::kSuccess || least >= most)
    return CannotTune(board, "the GPU's power limit cannot be changed", "nvidia-smi -q -d POWER shows what it admits");
  board.limit_w = *limit * kMilli, board.least_w = least * kMilli, board.most_w = most * kMilli;
  if (const auto usual = nvml::Ask(call.DeviceGetPowerManagementDefaultLimit, device)) board.usual_w = *usual * kMilli;
  boards_.push_back(std::move(board));
  return {};
}

PowerBoards::~PowerBoards() {
  if (library_ != nullptr) Restore();
}

// Inside a container the driver may give numbers of the host's processes: then ours are not among them.
Result<void> PowerBoards::KeepThoseOf(std::span<const int64_t> pids) {
  const auto is_ours = [&](int64_t pid) { return std::ranges::binary_search(pids, pid); };
  std::vector<PowerBoard> used;
  for (const PowerBoard& board : boards_) {
    const auto on_it = ProcessesOn(*library_, board.index);
    if (!std::ranges::any_of(on_it, is_ours)) continue;
    if (!std::ranges::all_of(on_it, is_ours))
      return CannotTune(board, "another program computes on the GPU: its energy cannot be told from the training's",
                        "wait until it has ended, or choose other GPUs with CUDA_VISIBLE_DEVICES");
    used.push_back(board);
  }
  if (!used.empty()) return boards_ = std::move(used), Result<void>();
  if (names_devices_ || boards_.size() == 1) return {};
  return Fail(ErrorCode::kEnvironment, "which of the GPUs the command uses is not known", "",
              "name them: CUDA_VISIBLE_DEVICES=0,1 gapless tune power -- …");
}

Result<void> PowerBoards::CheckPermission(LimitWatchdog& watchdog) {
  GAPLESS_TRY(watchdog.Keep(boards_));
  watchdog_ = &watchdog;
  for (const PowerBoard& board : boards_) {
    const auto set = library_->call().DeviceSetPowerManagementLimit;
    const auto result =
        set == nullptr ? nvml::kNotSupported : set(library_->devices()[board.index], ToMilliwatts(board.limit_w));
    if (result == nvml::kNoPermission)
      return CannotTune(board, "changing the power limit needs root",
                        "run it as root: sudo -E gapless tune power -- …; in a container, with --cap-add SYS_ADMIN");
    if (result != nvml::kSuccess)
      return CannotTune(board, "the GPU's power limit cannot be changed",
                        "nvidia-smi -q -d POWER shows what it admits");
  }
  return {};
}

std::optional<double> PowerBoards::Joules(size_t board) const {
  const auto mj =
      nvml::Ask(library_->call().DeviceGetTotalEnergyConsumption, library_->devices()[boards_[board].index]);
  return mj ? std::optional(static_cast<double>(*mj) * kMilli) : std::nullopt;
}

Result<void> PowerBoards::SetAll(double watts) {
  if (watchdog_ == nullptr || !watchdog_->IsAlive())
    return Fail(ErrorCode::kEnvironment, "the process that gives the power limits back is gone", "",
                "without it no limit is changed; the limits are as they were");
  has_changed_ = true;
  for (const PowerBoard& board : boards_)
    if (!SetLimitOf(*library_, board.index, ToMilliwatts(watts)))
      return CannotTune(board, StrCat("the GPU refused a power limit of ", FormatNumber(watts, 0), " W"),
                        "nvidia-smi -q -d POWER shows what it admits");
  return {};
}

bool PowerBoards::Restore() {
  if (!has_changed_) return true;
  bool all = true;
  for (const PowerBoard& board : boards_) all = SetLimitOf(*library_, board.index, ToMilliwatts(board.limit_w)) && all;
  has_changed_ = !all;
  return all;
}

}  // namespace gapless::internal
