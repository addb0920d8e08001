// SPDX-License-Identifier: Apache-2.0
// The command `gapless trigger`: posts one request to the agents of an active run through the control block, and waits
// for their answers.
//
// The request is a record in shared memory, which each agent reads between two steps; answers come back through the
// agents' rings. The command waits until every training process that is alive has answered and, for a recording, has
// written its file. It ends with an error if the run ends or nobody answers in time; the request then still stands.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <thread>

#include "base/described_json.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/output.h"
#include "collect/control.h"
#include "collect/ring_keeper.h"

namespace gapless::internal::trigger_command {
namespace documents {

// The answer of one process.
struct AgentReply {
  int64_t pid = 0;
  std::string folder{}, answer{};
  int64_t step = 0;
  std::string text{}, file{};
  static constexpr FieldInfo kFields[] = {
      Field<&AgentReply::pid>("pid", "", "process that answered"),
      Field<&AgentReply::folder>("folder", "", "its folder in the run"),
      Field<&AgentReply::answer>("answer", "", "done, late, failed, or why it does not apply"),
      Field<&AgentReply::step>("step", "", "step at which it acted"),
      Field<&AgentReply::text>("text", "", "what it said", kUnlessEmpty),
      Field<&AgentReply::file>("file", "", "file that it wrote", kUnlessEmpty),
  };
};

// The whole document; processes that did not answer are left out.
struct Trigger {
  std::string run{};
  int64_t sequence = 0;
  std::vector<AgentReply> processes{};
  static constexpr FieldInfo kFields[] = {
      Field<&Trigger::run>("run", "", "folder of the run"),
      Field<&Trigger::sequence>("sequence", "", "number of the request"),
      Field<&Trigger::processes>("processes", "", "answers"),
  };
};

}  // namespace documents

namespace {

constexpr int kMaxSteps = 1000;
constexpr double kWaitS = 120, kMaxWaitS = 86'400;

struct TriggerArguments : Arguments {
  std::string run{};
  int64_t steps = 3;
  bool memory = false;
  std::optional<int64_t> python{}, stop_after{};
  std::optional<std::string> fix{}, unfix{};
  static constexpr OptionList kOptions{
      Number<&TriggerArguments::steps>("N", "Record N steps with PyTorch's profiler (3)", 1, kMaxSteps),
      Flag<&TriggerArguments::memory>("Write a snapshot of PyTorch's allocator instead"),
      Number<&TriggerArguments::python>("SECONDS", "Sample the Python code for this time instead", 1),
      Text<&TriggerArguments::fix>("ID", "Switch a fix on instead"),
      Text<&TriggerArguments::unfix>("ID", "Switch a fix off instead"),
      Number<&TriggerArguments::stop_after>("N", "End the program after N steps instead", 1),
      Parsed<&Arguments::timeout, ReadTime>("TIME", "Wait at most this time for answers: 90s, 10m (2m)"),
  };
  static constexpr WordList kWords{
      Word<&TriggerArguments::run>("RUN", "the folder of a run that is still active").Path()};
};

constexpr auto kTick = std::chrono::milliseconds(20);
// Defaults and largest values of --steps and --timeout; then the values of a recorder's record that end a recording.
constexpr int kFileWritten = 4, kFileNotWritten = 5;

// A training process's answer to the request.
struct Reply {
  std::string folder;
  bool answered = false;
  wire::Answer answer = wire::Answer::kDone;
  int64_t step = 0;
  std::string text, file;
};

// Names an answer. An agent of a newer version may give one that is not known here.
std::string_view Say(wire::Answer answer) {
  switch (answer) {
    case wire::Answer::kDone: return "done";
    case wire::Answer::kLate: return "late";
    case wire::Answer::kFailed: return "failed";
    case wire::Answer::kUnknown: return "not known to this agent";
    case wire::Answer::kDoesNotApply: return "does not apply";
  }
  return "answered in an unknown way";
}

// Collects the answers to one request. Rings are drained once before the request is posted, so that older answers are
// not taken for new ones.
class Waiting {
 public:
  Waiting(const std::string& folder, wire::AgentCommand command) : rings_(folder, false), command_(command) {
    rings_.Drain(true);
  }
  void Posted(uint64_t sequence) { sequence_ = sequence; }
  void Look() {
    rings_.Drain(false, [&](AgentProcess& process, const wire::RingRecord& record) { Take(process, record); });
  }
  // Returns true if all training processes that are alive have answered, and for a recording have written their files.
  // A run whose processes have all ended is over if at least one answered.
  bool Over() const {
    bool any = false;
    for (const auto& process : rings_.processes()) {
      const wire::RingHeader& header = process->ring.header();
      if (header.role != wire::AgentRole::kTrains || header.state != wire::AgentState::kRuns || !IsAlive(header.pid))
        continue;
      const auto reply = replies_.find(header.pid);
      if (reply == replies_.end() || !reply->second.answered) return false;
      const bool acted = reply->second.answer <= wire::Answer::kLate;
      if (command_ == wire::AgentCommand::kRecord && acted && reply->second.file.empty()) return false;
      any = true;
    }
    return any || !replies_.empty();
  }
  const std::map<int64_t, Reply>& replies() const { return replies_; }
  uint64_t steps() const { return rings_.steps(); }
  bool AnyAlive() const { return rings_.AnyAlive(); }

 private:
  // Takes an answer of this request, and after it the record that a file was written, or could not be.
  void Take(AgentProcess& process, const wire::RingRecord& record) {
    if (sequence_ == 0) return;
    Reply& reply = replies_[process.ring.header().pid];
    reply.folder = process.folder;
    if (record.kind == wire::RecordKind::kAck && static_cast<uint64_t>(record.a) == sequence_) {
      reply.answered = true;
      reply.answer = static_cast<wire::Answer>(record.value);
      reply.step = record.b;
      reply.text = process.texts[wire::WholeOf(record.x)];
    }
    if (reply.answered && record.kind == wire::RecordKind::kRecorder && record.value == kFileWritten)
      reply.file = process.texts[record.a];
    if (reply.answered && record.kind == wire::RecordKind::kRecorder && record.value == kFileNotWritten) {
      reply.answer = wire::Answer::kFailed;
      reply.text = process.texts[record.a];
    }
  }

  RingKeeper rings_;
  wire::AgentCommand command_;
  uint64_t sequence_ = 0;
  std::map<int64_t, Reply> replies_;
};

// Waits for the answers. The launcher may end before its processes, so the run has ended only when none of them is
// alive.
Result<void> WaitFor(Waiting& waiting, const ControlBlock& control, double seconds, const Session& session) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::llround(seconds * 1000));
  while (!waiting.Over()) {
    if (session.cancel->load()) return Fail(ErrorCode::kInterrupted, "interrupted");
    if (std::chrono::steady_clock::now() > end)
      return Fail(
          ErrorCode::kEnvironment,
          StrCat("no answer within ", FormatNumber(seconds, seconds == std::floor(seconds) ? 0 : 1), " s"), "",
          "processes answer between two steps: check that the job still takes steps, or use a longer --timeout");
    std::this_thread::sleep_for(kTick);
    waiting.Look();
    // Asked last: the final answers may have come with the last look.
    if (!IsAlive(control.launcher_pid()) && !waiting.AnyAlive() && !waiting.Over())
      return Fail(ErrorCode::kEnvironment, "the run ended before it answered");
  }
  return {};
}

// Prints a line per process that answered, with the file it wrote.
std::string TextOf(const std::string& folder, const Waiting& waiting) {
  std::string text;
  for (const auto& [pid, reply] : waiting.replies()) {
    if (!reply.answered) continue;
    text += StrCat(reply.folder, " (pid ", pid, "): ", Say(reply.answer), " at step ", reply.step);
    if (!reply.text.empty()) text += StrCat(", ", Printable(reply.text));
    if (!reply.file.empty()) text += StrCat(", ", folder, "/", reply.folder, "/", Printable(reply.file));
    text += "\n";
  }
  return text;
}

std::string JsonOf(const std::string& folder, const Waiting& waiting, uint64_t sequence) {
  documents::Trigger document{.run = folder, .sequence = static_cast<int64_t>(sequence)};
  for (const auto& [pid, reply] : waiting.replies())
    if (reply.answered)
      document.processes.push_back(
          {pid, reply.folder, std::string(Say(reply.answer)), reply.step, reply.text, reply.file});
  return DocumentOf("trigger", document);
}

// A request to the agents; the meaning of `argument` depends on the command.
struct AgentRequest {
  wire::AgentCommand command = wire::AgentCommand::kRecord;
  int64_t argument = 0;
  std::string text;
};

// Translates the options. Of several requests the last in this list counts.
AgentRequest AgentRequestFrom(const TriggerArguments& arguments) {
  AgentRequest request{wire::AgentCommand::kRecord, arguments.steps, "asked for"};
  if (arguments.memory) request = {wire::AgentCommand::kMemory, 0, ""};
  if (arguments.python) request = {wire::AgentCommand::kPython, *arguments.python, ""};
  if (arguments.stop_after) request = {wire::AgentCommand::kStop, *arguments.stop_after, ""};
  if (arguments.fix) request = {wire::AgentCommand::kFixOn, 0, *arguments.fix};
  if (arguments.unfix) request = {wire::AgentCommand::kFixOff, 0, *arguments.unfix};
  return request;
}

// Listens before it posts the request, so that no answer can be missed.
Result<int> Execute(const TriggerArguments& arguments, Session& session) {
  const std::string& folder = arguments.run;
  const AgentRequest request = AgentRequestFrom(arguments);
  GAPLESS_ASSIGN(auto control, ControlBlock::Open(folder));
  Waiting waiting(folder, request.command);
  if (!IsAlive(control.launcher_pid()) && !waiting.AnyAlive())
    return Fail(ErrorCode::kInput, "cannot send a request: this run has ended", folder,
                "name the folder of a run that is still active");
  GAPLESS_ASSIGN(const auto sequence, control.Post(request.command, request.argument, request.text));
  waiting.Posted(sequence);
  GAPLESS_TRY(WaitFor(waiting, control, std::min(arguments.timeout.value_or(kWaitS), kMaxWaitS), session));
  return PrintTextOrJson(
      arguments, [&] { return TextOf(folder, waiting); }, [&] { return JsonOf(folder, waiting, sequence); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Trigger>::kInfo};
constexpr Example kExamples[] = {
    {"gapless trigger run --steps 3", "Records the next three steps, the same ones on all ranks"},
    {"gapless trigger run --memory", "What the allocator holds right now"},
};

}  // namespace

COMMAND(trigger) = {
    .name = "trigger",
    .place = {groups::kGuard, 6},
    .help = "Ask an active job for a recording, a snapshot or a fix",
    .about =
        "Sends a request to the processes of a run that `gapless profile` or `gapless monitor` started, and "
        "waits until all have answered. All ranks of a host act on the same step, two steps after the first "
        "of them has seen the request.",
    .examples = kExamples,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::trigger_command
