// SPDX-License-Identifier: Apache-2.0
// The command `gapless bisect`: runs commits of a range until one of them is the first slow one with the requested
// probability. validate/commit_search.h chooses the next commit; trial/checkout.h makes its folder.
//
// A run's typical step time is noisy, so a commit may run several times, and the search works on logarithms: a change
// is a ratio. Every run goes to a journal before the next one starts, and the same command continues from it. A commit
// whose build fails or whose command exits with 125 is skipped, unless it is an end of the range: without the ends
// there is nothing to compare. The exit status is 0 if a commit was found, else 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/described_json.h"
#include "base/redact.h"
#include "base/strings.h"
#include "cli/benchmark.h"
#include "cli/commands/bisect/journal.h"
#include "cli/pairs.h"
#include "collect/child.h"
#include "collect/files.h"
#include "proof/measure.h"
#include "trial/checkout.h"
#include "validate/commit_search.h"

namespace gapless::internal::bisect_command {
namespace documents {

// The whole document. Members about the commit are absent while nothing is known of any commit.
struct Bisect {
  std::string_view result{};
  size_t commits = 0, runs = 0;
  double no_regression_probability = 0;
  std::optional<std::string> commit{}, subject{}, first_possible{};
  std::optional<double> probability{}, time_ratio{};
  static constexpr FieldInfo kFields[] = {
      Field<&Bisect::result>("result", "", "found, no_regression or cannot_tell"),
      Field<&Bisect::commits>("commits", "count", "commits from the good to the bad one"),
      Field<&Bisect::runs>("runs", "count", "runs that were made"),
      Field<&Bisect::no_regression_probability>("no_regression_probability", "share", "that nothing got slower"),
      Field<&Bisect::commit>("commit", "", "the most likely first bad commit"),
      Field<&Bisect::subject>("subject", "", "its subject"),
      Field<&Bisect::first_possible>("first_possible", "", "the first commit that cannot be distinguished from it"),
      Field<&Bisect::probability>("probability", "share", "that it is the first bad commit"),
      Field<&Bisect::time_ratio>("time_ratio", "ratio", "time from there on / time before"),
  };
};

}  // namespace documents

namespace {

struct BisectArguments : MeasureArguments {
  std::string good{}, bad{}, build{}, journal{};  // empty: not given
  std::vector<std::string> share{};
  double effect = 0.02, confidence = 0.99;
  size_t runs = 200;
  bool restart = false, quiet = false;
  static constexpr OptionList kOptions{
      Text<&BisectArguments::good>("REV", "Name a commit from before the regression"),
      Text<&BisectArguments::bad>("REV", "Name a later commit that has the regression"),
      Text<&BisectArguments::build>("CMD", "Run this shell command once in the checkout of each commit"),
      Text<&BisectArguments::share>("PATH", "Link to this file or folder, which git does not track, in each checkout"),
      Parsed<&BisectArguments::effect, ReadShare>("SHARE", "Find regressions of at least SHARE (2%)"),
      Parsed<&BisectArguments::confidence, ReadShare>("SHARE",
                                                      "Stop when the probability of the answer reaches SHARE (99%)"),
      kStrictOption,
      Number<&BisectArguments::runs>("N", "Give up after N runs (200)", 6, 100'000),
      Text<&BisectArguments::journal>("FILE", "Keep the runs in FILE, to continue after an interruption"),
      Flag<&BisectArguments::restart>("Discard the runs made so far, and start again"),
      kWarmupOption,
      kStepsOption,
      kPatternOption,
      kHigherIsBetterOption,
      kWholeOption,
      kToTheEndOption,
      kProcessOptions,
      Flag<&BisectArguments::quiet>("Do not print a line for each run").Short('q'),
  };
};

// The search. `key` identifies it: folder, ends of the range, build and command, as one line.
struct Plan {
  RunRequest request;
  std::vector<Commit> commits;
  CommitSearchOptions options;
  bool higher_is_better = false;
  std::string build, journal, key;
  std::vector<std::string> shared;
  bool anew = false;
};

// Reads the options and asks git for the commits. Secrets are redacted from the key, which the journal's first line
// holds.
Result<Plan> PlanFrom(const BisectArguments& arguments) {
  if (arguments.good.empty() || arguments.bad.empty()) {
    const std::string_view needed = arguments.good.empty() ? "good" : "bad";
    return Fail(ErrorCode::kUsage, StrCat("--", needed, " is needed: a commit that is ", needed));
  }
  GAPLESS_ASSIGN(auto request, RequestFrom(arguments, arguments.command));
  GAPLESS_ASSIGN(auto commits, CommitsBetween(".", arguments.good, arguments.bad));
  Plan plan;
  plan.request = std::move(request);
  plan.commits = std::move(commits);
  plan.options = {.confidence = arguments.confidence, .least_change = std::max(arguments.effect, 1e-4)};
  plan.options.most_runs = arguments.runs;
  plan.higher_is_better = arguments.higher_is_better;
  plan.build = arguments.build;
  plan.shared = arguments.share;
  plan.key = StrCat(Absolute("."), " ", plan.commits.front().sha, " ", plan.commits.back().sha, " ",
                    RedactCommandLine(plan.build), " -- ", CommandText(arguments.command));
  // The key is one line of the journal, whose fields are separated by tabs.
  std::replace_if(
      plan.key.begin(), plan.key.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  plan.journal = arguments.journal.empty() ? DefaultJournalPath(plan.key) : arguments.journal;
  plan.anew = arguments.restart;
  return plan;
}

std::string Short(const Commit& commit) {
  return StrCat(commit.sha.substr(0, kShortSha), " ", Printable(commit.subject));
}

// Measures one commit; absent if the commit cannot be run.
Result<std::optional<double>> RunCommit(const Plan& plan, Checkouts& checkouts, size_t index) {
  const Commit& commit = plan.commits[index];
  GAPLESS_ASSIGN(const auto place, checkouts.At(commit.sha));
  // An end of the range that cannot be run is an error: the search has nothing to compare with.
  const bool end = index == 0 || index + 1 == plan.commits.size();
  if (place.build_status != 0) {
    if (!end) return std::optional<double>();
    return Fail(ErrorCode::kCommand, StrCat(Short(commit), " cannot be built"), "", Printable(place.build_tail));
  }
  RunRequest request = plan.request;
  request.working_folder = place.folder;
  request.note_on_failure = place.lacks;
  GAPLESS_ASSIGN(auto sample, RunOnce(request));
  // The command asks to skip this commit, as with `git bisect run`.
  if (sample.exit_status == kOwnFailure && !end && !sample.stopped) return std::optional<double>();
  GAPLESS_ASSIGN(const auto checked, Checked(std::move(sample), request));
  return TypicalValue(checked);
}

// Adds a run to the search; the sign makes larger always slower.
void Take(CommitSearch& search, const Plan& plan, size_t index, std::optional<double> value) {
  if (!value) return search.Skip(index);
  search.Add(index, plan.higher_is_better ? -std::log(*value) : std::log(*value));
}

// Prints a line for a run with the currently most likely commit. The probability includes that of "no change".
void Say(const Plan& plan, const CommitSearch& search, size_t index, std::optional<double> value) {
  std::fputs(StrCat("run ", search.runs(), ": ", Short(plan.commits[index]),
                    value ? StrCat("  ", FormatNumber(*value, 3)) : "  cannot be run",
                    search.best().probability > 0
                        ? StrCat("  (most likely ", plan.commits[search.best().last].sha.substr(0, kShortSha), ", ",
                                 FormatPercent(search.best().probability * (1 - search.none_probability())), ")")
                        : "",
                    "\n")
                 .c_str(),
             stderr);
}

// Repeats the journal's runs, then makes new ones until the search is decided. Runs of commits that are no longer in
// the range are left out.
Result<CommitSearch> Search(const Plan& plan, bool quiet) {
  GAPLESS_ASSIGN(auto journal, Journal::Open(plan.journal, plan.key, plan.anew));
  CommitSearch search(plan.commits.size(), plan.options);
  std::map<std::string, size_t> index_of;
  for (size_t i = 0; i < plan.commits.size(); ++i) index_of[plan.commits[i].sha] = i;
  for (const JournalEntry& entry : journal.entries())
    if (const auto found = index_of.find(entry.sha); found != index_of.end())
      Take(search, plan, found->second, entry.value);
  if (!quiet && search.runs() > 0)
    std::fputs(StrCat("going on after ", search.runs(), " runs of ", journal.path(), "\n").c_str(), stderr);
  GAPLESS_ASSIGN(auto checkouts, Checkouts::Make(".", plan.build, plan.shared));
  while (search.state() == SearchState::kGoesOn) {
    const size_t index = search.next();
    GAPLESS_ASSIGN(const auto value, RunCommit(plan, checkouts, index));
    // Before the search takes it: an interruption from here on loses nothing.
    GAPLESS_TRY(journal.Add({plan.commits[index].sha, value}));
    Take(search, plan, index, value);
    if (!quiet) Say(plan, search, index, value);
  }
  return search;
}

// States the answer with its probability. Where commits between cannot be run, the answer is a range of commits.
std::string TextOf(const Plan& plan, const CommitSearch& search) {
  const CommitRange& best = search.best();
  const std::string runs = StrCat(" (", search.runs(), " runs of ", plan.commits.size(), " commits)\n");
  const std::string sure = FormatPercent(best.probability * (1 - search.none_probability()));
  const std::string change = search.ratio() ? StrCat(FormatPercent(*search.ratio() - 1), " more time") : "";
  switch (search.state()) {
    case SearchState::kFound: {
      const Commit& commit = plan.commits[best.last];
      std::string text =
          best.first == best.last
              ? StrCat("first bad commit: ", Short(commit), "\n  by ", Printable(commit.author), ", ", commit.date,
                       "\n")
              : StrCat("the first bad commit is one of ", best.last - best.first + 1,
                       ", those between cannot be run: ", plan.commits[best.first].sha.substr(0, kShortSha), " … ",
                       Short(commit), "\n");
      return StrCat(text, "  ", change, " from there on; ", sure, " sure", runs);
    }
    case SearchState::kNoChange:
      return StrCat("no regression of ", FormatPercent(plan.options.least_change), " or more between ",
                    Short(plan.commits.front()), " and ", Short(plan.commits.back()), "; ",
                    FormatPercent(search.none_probability()), " sure", runs);
    default: break;
  }
  return StrCat("cannot tell: the most likely is ", Short(plan.commits[best.last]), ", ", sure, " sure", runs,
                "  --runs allows more; the same command goes on where it stopped\n");
}

// Probabilities include that of "no change", so they add up to 1 over all commits and it.
std::string JsonOf(const Plan& plan, const CommitSearch& search) {
  const CommitRange& best = search.best();
  documents::Bisect document{.result = search.state() == SearchState::kFound      ? "found"
                                       : search.state() == SearchState::kNoChange ? "no_regression"
                                                                                  : "cannot_tell",
                             .commits = plan.commits.size(),
                             .runs = search.runs(),
                             .no_regression_probability = search.none_probability()};
  if (best.probability > 0) {
    document.commit = plan.commits[best.last].sha;
    document.subject = plan.commits[best.last].subject;
    document.first_possible = plan.commits[best.first].sha;
    document.probability = best.probability * (1 - search.none_probability());
    document.time_ratio = search.ratio();
  }
  return DocumentOf("bisect", document);
}

// Searches, and answers "yes" if a commit was found.
Result<int> Execute(const BisectArguments& arguments, Session& /*session*/) {
  GAPLESS_ASSIGN(const auto plan, PlanFrom(arguments));
  GAPLESS_ASSIGN(const auto search, Search(plan, arguments.quiet));
  const bool is_told = search.state() == SearchState::kFound || search.state() == SearchState::kNoChange;
  const Told told = !is_told ? Told::kCannotTell : search.state() == SearchState::kFound ? Told::kYes : Told::kNo;
  return Answer(
      arguments, StatusOf(arguments, told, 1), [&] { return TextOf(plan, search); },
      [&] { return JsonOf(plan, search); });
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::Bisect>::kInfo};
constexpr Example kExamples[] = {
    {"gapless bisect --good v1.2 --bad main -- python train.py", "Which commit made the steps slower?"},
    {"gapless bisect --good HEAD~50 --bad HEAD --build 'make -j' -- ./bench", "With a build in each commit"},
};

}  // namespace

COMMAND(bisect) = {
    .name = "bisect",
    .place = {groups::kGuard, 4},
    .help = "Find the commit that made a command slower, from noisy runs",
    .about =
        "Runs the command in commits between a good and a bad one, each in its own checkout beside the "
        "repository, and keeps for every commit the probability that it is the first bad one. The next run "
        "goes to the most uncertain commit, so a commit may run several times. The answer has its "
        "probability, or says that nothing got slower.\n\nA command or build that exits with 125 skips its "
        "commit. Every run is kept: the same command continues after an interruption. Only first parents are "
        "searched. The exit status is 0 if a commit was found, else 1.",
    .examples = kExamples,
    .takes_command = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::bisect_command
