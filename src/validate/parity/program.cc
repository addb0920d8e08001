// SPDX-License-Identifier: Apache-2.0
// Compares what two programs are: the lists of facts that the agent wrote (parity/program.py), kind by kind.
//
// A fact is not evidence of a difference in what is trained: a transform may be written in another way. So it counts by
// what steps could show. Where steps are equal up to rounding, they have shown that what acts in every step is
// harmless, and only what acts later is left to doubt. Where random numbers differ, steps are compared on average only,
// within 5 %: an augmentation that is gone is far below that, and the list decides.
#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "validate/parity/checks.h"

namespace gapless::internal {
namespace {

struct FactKind {
  std::string_view name;
  Weight weight;
  std::string_view of;            // in front of the name of the fact
  bool counts_if_absent = false;  // a fact that only one of both has is a difference
};
constexpr FactKind kKinds[] = {
    {"transform", Weight::kDecides, "", true},         {"sampler", Weight::kDecides, "the sampler of "},
    {"dropout", Weight::kDecides, "dropout, ", true},  {"loss", Weight::kDecides, "the loss, "},
    {"frozen", Weight::kDecides, "frozen "},           {"loader", Weight::kLater, ""},
    {"clipping", Weight::kLater, "clipping of "},      {"schedule", Weight::kLater, "the schedule of the "},
    {"graph", Weight::kCode, "the functions of the "}, {"dataset", Weight::kCode, "the dataset of "},
    {"module", Weight::kCode, "module ", true},        {"code", Weight::kCode, "the code of "},
};
constexpr size_t kMostOfAKind = 8;

// Elements of `a` that are not in `b`, with repetitions.
std::vector<std::string> LeftOf(std::vector<std::string> a, std::vector<std::string> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::vector<std::string> left;
  std::ranges::set_difference(a, b, std::back_inserter(left));
  return left;
}

std::string Listed(const std::vector<std::string>& texts) { return texts.empty() ? "nothing" : Join(texts, ", "); }

// "loader 1, transform: RandomCrop(padding=4) is missing"; empty: equal.
std::string DifferenceOf(const FactKind& kind, std::string_view name, const std::vector<std::string>& was,
                         const std::vector<std::string>& is) {
  if (was == is) return "";
  const std::string of = StrCat(kind.of, name);
  if (kind.name == "code") return StrCat(of, " is another");
  const auto gone = LeftOf(was, is), added = LeftOf(is, was);
  if (gone.empty() && added.empty()) return StrCat(of, ": the same in another order");
  if (added.empty()) return StrCat(of, ": ", Listed(gone), gone.size() == 1 ? " is missing" : " are missing");
  if (gone.empty()) return StrCat(of, ": ", Listed(added), added.size() == 1 ? " is new" : " are new");
  return StrCat(of, ": ", Listed(added), " instead of ", Listed(gone));
}

// Names of one kind that either has.
std::vector<std::string> NamesOf(const ProgramFacts& was, const ProgramFacts& is, const FactKind& kind) {
  std::vector<std::string> names;
  for (const ProgramFacts* facts : {&was, &is}) {
    const auto found = facts->find(kind.name);
    if (found == facts->end()) continue;
    for (const auto& [name, texts] : found->second)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

const std::vector<std::string>* FactOf(const ProgramFacts& facts, const FactKind& kind, std::string_view name) {
  const auto found = facts.find(kind.name);
  if (found == facts.end()) return nullptr;
  const auto fact = found->second.find(name);
  return fact == found->second.end() ? nullptr : &fact->second;
}

}  // namespace

std::vector<ProgramDifference> CompareProgram(const ProgramFacts& was, const ProgramFacts& is) {
  std::vector<ProgramDifference> differences;
  if (was.empty() || is.empty()) return differences;
  for (const FactKind& kind : kKinds) {
    size_t of_kind = 0;
    for (const std::string& name : NamesOf(was, is, kind)) {
      const auto *before = FactOf(was, kind, name), *now = FactOf(is, kind, name);
      if ((before == nullptr || now == nullptr) && !kind.counts_if_absent) continue;
      static const std::vector<std::string> kNothing;
      std::string what =
          DifferenceOf(kind, name, before == nullptr ? kNothing : *before, now == nullptr ? kNothing : *now);
      if (what.empty() || ++of_kind > kMostOfAKind) continue;
      differences.push_back({.weight = kind.weight, .what = Ellipsize(Printable(what), 300)});
    }
  }
  return differences;
}

void WeighProgram(const std::vector<ProgramDifference>& differences, ParityReport& report) {
  for (const ProgramDifference& one : differences) report.differences.push_back(one.what);
  const auto first = [&](Weight weight) { return std::ranges::find(differences, weight, &ProgramDifference::weight); };
  const auto none = differences.end();
  const auto decides = first(Weight::kDecides), later = first(Weight::kLater), code = first(Weight::kCode);
  const auto say = [&](ParityVerdict verdict, std::string reason) {
    report.verdict = verdict;
    report.test = "program";
    report.reason = std::move(reason);
  };
  if (report.verdict == ParityVerdict::kExact || report.verdict == ParityVerdict::kRounding) {
    if (later != none)
      say(ParityVerdict::kCannotTell,
          StrCat("cannot tell: ", report.reason, ", but ", later->what, ", which may act later than these steps"));
    return;
  }
  const bool is_open = report.verdict == ParityVerdict::kSameDistribution ||
                       (report.verdict == ParityVerdict::kCannotTell && report.test == "distribution");
  if (!is_open) return;
  if (const auto known = decides != none ? decides : later; known != none)
    return say(ParityVerdict::kOtherTraining, StrCat("another training: ", known->what, ", which ", report.steps,
                                                     " steps with other random numbers cannot show"));
  if (code != none && report.verdict == ParityVerdict::kSameDistribution)
    say(ParityVerdict::kCannotTell,
        StrCat("cannot tell: ", report.reason, ", but ", code->what, ", and less than that may matter"));
}

}  // namespace gapless::internal
