// SPDX-License-Identifier: Apache-2.0
// Implements the boards, and the watchdog by a pair of sockets: it acts when ours is closed.
//
// The watchdog is forked twice and has a session of its own, so that it is no child of ours, and signals to our group
// or from our terminal do not reach it. It opens the driver itself and right away: later there might be no way to. No
// answer of a driver is shared over the fork.
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
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr int kAnswerMs = 10'000;  // a driver that has to wake up takes seconds

// An order to the watchdog: how a board was found; the last of a list ends it.
struct GiveBackOrder {
  uint32_t board = 0, is_last = 0;
  double found = 0;
};
constexpr GiveBackOrder kAllIsWell{.is_last = 2};

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

// The watchdog's whole life, in its process. It asks for no energy, so that the library that has it stays closed.
[[noreturn]] void KeepSettings(TelemetrySources sources, PowerKnob knob, int socket) {
  CloseOthers(socket);
  ::prctl(PR_SET_NAME, "gapless-power");
  sources.amd_smi_library.clear();
  const auto driver = OpenPowerDriver(sources, knob);
  const pid_t pid = driver ? ::getpid() : -1;
  if (!WriteWhole(socket, &pid, sizeof pid) || !driver) ::_exit(1);
  std::vector<GiveBackOrder> kept;
  for (GiveBackOrder order; ReadWhole(socket, &order, sizeof order);) {
    if (order.is_last == kAllIsWell.is_last) ::_exit(0);
    kept.push_back(order);
    if (order.is_last == 1 && !WriteWhole(socket, &pid, sizeof pid)) break;
  }
  for (const GiveBackOrder& order : kept) (*driver)->GiveBack(order.board, order.found);
  ::_exit(0);
}

// The child of the fork only forks again: its own child belongs to nobody that we could take along.
[[noreturn]] void ForkAgain(const TelemetrySources& sources, PowerKnob knob, int socket) {
  ::setsid();
  const pid_t again = ::fork();
  if (again != 0) ::_exit(again < 0 ? 1 : 0);
  KeepSettings(sources, knob, socket);
}

Unexpected NoWatchdog(PowerKnob knob) {
  return Fail(ErrorCode::kEnvironment, StrCat("no process could be started that gives the ", SettingsOf(knob), " back"),
              "", "without it nothing is changed; free some processes (ulimit -u)");
}

// Returns the place of the board that a word of a list means; none: no board of this machine.
std::optional<size_t> PlaceOf(const PowerDriver& driver, std::span<const unsigned> boards, std::string_view word) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number < boards.size()) return number;
  for (size_t i = 0; i < boards.size(); ++i)
    if (!word.empty() && driver.UuidOf(boards[i]).starts_with(word)) return i;
  return std::nullopt;
}

// As drivers do: those after the first word that means none are not visible either.
std::vector<unsigned> Visible(const PowerDriver& driver, std::span<const unsigned> boards, std::string_view list) {
  std::vector<unsigned> seen;
  for (const std::string_view word : Split(list, ',')) {
    const auto place = PlaceOf(driver, boards, word);
    if (!place) break;
    seen.push_back(boards[*place]);
  }
  return seen;
}

}  // namespace

Result<void> MayChangeGpuSettings() {
  const char* keep = std::getenv(kKeepGpuSettings);
  if (keep == nullptr || *keep == '\0' || std::string_view(keep) == "0") return {};
  return Fail(ErrorCode::kEnvironment, "settings of this machine's GPUs are not to be changed", kKeepGpuSettings,
              "tune power on a machine of your own");
}

Result<PowerWatchdog> PowerWatchdog::Start(const TelemetrySources& sources, PowerKnob knob) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return NoWatchdog(knob);
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) ForkAgain(sources, knob, ends[1]);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  PowerWatchdog watchdog(ends[0], knob);
  if (child < 0) return NoWatchdog(knob);
  ::waitpid(child, nullptr, 0);
  if (!watchdog.ReadAnswer(&watchdog.pid_, sizeof watchdog.pid_) || watchdog.pid_ < 0) {
    const auto opened = OpenPowerDriver(sources, knob);  // which says why
    if (!opened) return Unexpected{opened.error()};
    return NoWatchdog(knob);
  }
  return watchdog;
}

PowerWatchdog::PowerWatchdog(PowerWatchdog&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), knob_(other.knob_), pid_(other.pid_) {}

PowerWatchdog::~PowerWatchdog() {
  if (socket_ < 0) return;
  WriteWhole(socket_, &kAllIsWell, sizeof kAllIsWell);
  ::close(socket_);
}

bool PowerWatchdog::ReadAnswer(void* into, size_t bytes) const {
  pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
  int ready = 0;
  do ready = ::poll(&wait, 1, kAnswerMs);
  while (ready < 0 && errno == EINTR);
  return ready == 1 && ReadWhole(socket_, into, bytes);
}

bool PowerWatchdog::IsAlive() const {
  pollfd look{.fd = socket_, .events = 0, .revents = 0};
  return ::poll(&look, 1, 0) <= 0;
}

Result<void> PowerWatchdog::Keep(std::span<const PowerBoard> boards) {
  for (size_t i = 0; i < boards.size(); ++i) {
    const GiveBackOrder order{
        .board = boards[i].index, .is_last = i + 1 == boards.size() ? 1U : 0U, .found = boards[i].found};
    if (!WriteWhole(socket_, &order, sizeof order)) return NoWatchdog(knob_);
  }
  pid_t answer = 0;
  if (!ReadAnswer(&answer, sizeof answer)) return NoWatchdog(knob_);
  return {};
}

Result<PowerBoards> PowerBoards::Open(const TelemetrySources& sources, PowerKnob knob) {
  GAPLESS_TRY(MayChangeGpuSettings());
  PowerBoards boards;
  GAPLESS_ASSIGN(boards.driver_, OpenPowerDriver(sources, knob));
  const PowerDriver& driver = *boards.driver_;
  std::vector<unsigned> seen(driver.count());
  std::iota(seen.begin(), seen.end(), 0U);
  const auto lists = driver.VisibleLists();
  boards.names_devices_ = !lists.empty();
  for (const std::string& list : lists) seen = Visible(driver, seen, list);
  for (const unsigned index : seen)
    if (driver.Answers(index)) GAPLESS_TRY(boards.Add(index));
  if (boards.boards_.empty())
    return Fail(ErrorCode::kEnvironment, "no GPU is there whose power could be tuned", "",
                "gapless doctor shows the GPUs");
  return boards;
}

Result<void> PowerBoards::Add(unsigned index) {
  GAPLESS_ASSIGN(boards_.emplace_back(), driver_->Describe(index));
  return {};
}

PowerBoards::~PowerBoards() {
  if (driver_ != nullptr) Restore();
}

// Inside a container the driver may give numbers of the host's processes: then ours are not among them.
Result<void> PowerBoards::KeepThoseOf(std::span<const int64_t> pids) {
  const auto is_ours = [&](int64_t pid) { return std::ranges::binary_search(pids, pid); };
  std::vector<PowerBoard> used;
  for (const PowerBoard& board : boards_) {
    const auto on_it = driver_->ProcessesOn(board.index);
    if (!std::ranges::any_of(on_it, is_ours)) continue;
    if (!std::ranges::all_of(on_it, is_ours))
      return CannotTune(board, "another program computes on the GPU: its energy cannot be told from the training's",
                        StrCat("wait until it has ended, or choose other GPUs with ", driver_->visible_variable()));
    used.push_back(board);
  }
  if (!used.empty()) return boards_ = std::move(used), Result<void>();
  if (names_devices_ || boards_.size() == 1) return {};
  return Fail(ErrorCode::kEnvironment, "which of the GPUs the command uses is not known", "",
              StrCat("name them: ", driver_->visible_variable(), "=0,1 gapless tune power -- …"));
}

Result<void> PowerBoards::CheckPermission(PowerWatchdog& watchdog) {
  for (const PowerBoard& board : boards_) GAPLESS_TRY(driver_->CheckState(board));
  GAPLESS_TRY(watchdog.Keep(boards_));
  watchdog_ = &watchdog;
  const bool limits = knob() == PowerKnob::kLimit;
  for (const PowerBoard& board : boards_) {
    const auto answer = driver_->GiveBack(board.index, board.found);
    if (answer == PowerDriver::Answer::kNoPermission)
      return CannotTune(board, limits ? "changing the power limit needs root" : "locking the clock needs root",
                        "run it as root: sudo -E gapless tune power -- …; in a container, with --cap-add SYS_ADMIN");
    if (answer != PowerDriver::Answer::kDone)
      return CannotTune(board, limits ? "the GPU's power limit cannot be changed" : "the GPU's clock cannot be locked",
                        driver_->hint());
  }
  return {};
}

Result<void> PowerBoards::SetAll(double value) {
  if (watchdog_ == nullptr || !watchdog_->IsAlive())
    return Fail(ErrorCode::kEnvironment, StrCat("the process that gives the ", SettingsOf(knob()), " back is gone"), "",
                "without it nothing is changed; all is as it was");
  has_changed_ = true;
  for (const PowerBoard& board : boards_) {
    const auto answer = value == board.found ? driver_->GiveBack(board.index, value) : driver_->Set(board.index, value);
    if (answer != PowerDriver::Answer::kDone)
      return CannotTune(board, StrCat("the GPU refused ", FormatNumber(value, 0), " ", UnitOf(knob())),
                        driver_->hint());
  }
  return {};
}

bool PowerBoards::Restore() {
  if (!has_changed_) return true;
  bool all = true;
  for (const PowerBoard& board : boards_)
    all = driver_->GiveBack(board.index, board.found) == PowerDriver::Answer::kDone && all;
  has_changed_ = !all;
  return all;
}

}  // namespace gapless::internal
