// SPDX-License-Identifier: Apache-2.0
// Compares recordings call by call. A request of a program that writes text is compared up to the first token that
// differs: what comes behind it continues another text.
//
// A probe's noise is on weights alone, once; a change that rounds differently also rounds what lies between the layers,
// and sums of many products. So it may differ by kOfProbe times as much: a network of 14 layers under bf16, by autocast
// or cast as a whole, differed by 3.6 times its probe.
#include "validate/output_parity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr double kOfProbe = 16;
constexpr double kLeast = 0x1p-20;  // a probe may by chance not change an output at all

// The error of outputs, as shares of their standard deviation: the largest over calls and tensors.
struct OutputError {
  double mean = 0, largest = 0;
};

struct Compared {
  size_t calls = 0;
  bool exact = true;
  OutputError inputs{}, outputs{};
  size_t worst_call = 0;
  std::string worst{};
  size_t choices = 0, same_choices = 0;
  size_t whole = 0, same_whole = 0;  // outputs of whole numbers
  std::optional<size_t> first_other_choice{};
  // A difference that no rounding explains: the id of the test, the call, the tensor, and in words.
  std::string broken{}, broken_tensor{}, words{};
  size_t broken_call = 0;
};

// The standard deviation; of values that are all the same their size.
double ScaleOf(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double count = static_cast<double>(values.size()), mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / count);
  return deviation > std::abs(mean) * kLeast ? deviation : std::abs(mean);
}

OutputError ErrorOf(const std::vector<double>& wanted, const std::vector<double>& found) {
  OutputError error;
  if (wanted.empty()) return error;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::abs(found[i] - wanted[i]);
    error.mean += difference / static_cast<double>(wanted.size());
    error.largest = std::max(error.largest, difference);
  }
  if (error.largest == 0) return {};
  const double scale = ScaleOf(wanted);
  if (scale == 0) return {.mean = std::numeric_limits<double>::max(), .largest = std::numeric_limits<double>::max()};
  return {.mean = error.mean / scale, .largest = error.largest / scale};
}

std::string NameOfTensor(const TensorRecord& tensor, std::string_view what) {
  return tensor.name.empty() ? std::string(what) : StrCat(what, " ", tensor.name);
}

void Break(Compared& all, std::string test, size_t call, std::string tensor, std::string words) {
  if (!all.broken.empty()) return;
  all.broken = std::move(test);
  all.broken_call = call;
  all.broken_tensor = std::move(tensor);
  all.words = std::move(words);
}

// Returns true if both calls get inputs of the same shapes, and the same whole numbers.
bool SameInputs(const CallRecord& wanted, const CallRecord& found) {
  return std::ranges::equal(wanted.inputs, found.inputs, [](const TensorRecord& one, const TensorRecord& other) {
    return one.shape == other.shape && one.whole == other.whole && (!one.whole || one.code == other.code);
  });
}

void CompareTensor(const TensorRecord& wanted, const TensorRecord& found, size_t call, Compared& all) {
  const std::string name = NameOfTensor(wanted, "output");
  if (wanted.shape != found.shape || wanted.whole != found.whole || wanted.samples.size() != found.samples.size())
    return Break(all, "shape", call, name,
                 StrCat("its ", name, " of call ", call, " is ", found.type, found.shape, ", and ", wanted.type,
                        wanted.shape, " without it"));
  all.exact = all.exact && wanted.code == found.code && wanted.type == found.type;
  if (wanted.whole) {
    ++all.whole;
    all.same_whole += wanted.code == found.code;
    return;
  }
  if (wanted.finite && !found.finite)
    return Break(all, "finite", call, name, StrCat("its ", name, " of call ", call, " is not finite"));
  if (!wanted.finite) return;
  const OutputError error = ErrorOf(wanted.samples, found.samples);
  if (error.mean > all.outputs.mean) all.outputs.mean = error.mean, all.worst = name, all.worst_call = call;
  all.outputs.largest = std::max(all.outputs.largest, error.largest);
}

void CompareCall(const CallRecord& wanted, const CallRecord& found, size_t call, Compared& all) {
  ++all.calls;
  for (size_t i = 0; i < wanted.inputs.size(); ++i) {
    if (wanted.inputs[i].whole || wanted.inputs[i].samples.size() != found.inputs[i].samples.size()) continue;
    const OutputError error = ErrorOf(wanted.inputs[i].samples, found.inputs[i].samples);
    all.exact = all.exact && wanted.inputs[i].code == found.inputs[i].code;
    all.inputs.mean = std::max(all.inputs.mean, error.mean);
    all.inputs.largest = std::max(all.inputs.largest, error.largest);
  }
  if (wanted.outputs.size() != found.outputs.size())
    return Break(all, "shape", call, "",
                 StrCat("it returns ", found.outputs.size(), " tensors in call ", call, ", and ", wanted.outputs.size(),
                        " without it"));
  for (size_t i = 0; i < wanted.outputs.size(); ++i) CompareTensor(wanted.outputs[i], found.outputs[i], call, all);
  for (size_t i = 0; i < std::min(wanted.choices.size(), found.choices.size()); ++i) {
    ++all.choices;
    const bool same = wanted.choices[i] == found.choices[i];
    all.same_choices += same;
    if (!same && !all.first_other_choice) all.first_other_choice = call;
  }
}

// One behind the last call of the request that begins at `begin`.
size_t EndOfRequest(const OutputRecording& calls, size_t begin) {
  size_t end = begin + 1;
  while (end < calls.size() && calls[end].goes_on) ++end;
  return end;
}

// Compares a request; tokens behind the first that differs count as other ones. Returns false where the request itself
// is another one.
bool CompareRequest(const OutputRecording& wanted, size_t begin, size_t end, const OutputRecording& found,
                    size_t found_begin, size_t found_end, Compared& all) {
  for (size_t i = begin; i < end; ++i) {
    const size_t other = found_begin + i - begin;
    if (other < found_end && SameInputs(wanted[i], found[other])) {
      CompareCall(wanted[i], found[other], i + 1, all);
      continue;
    }
    if (i == begin) return false;
    all.exact = false;
    // The recording of the other one may just end here.
    for (; i < end && (other < found_end || found_end < found.size()); ++i) all.choices += wanted[i].choices.size();
    return true;
  }
  return true;
}

Compared Compare(const OutputRecording& wanted, const OutputRecording& found) {
  Compared all;
  size_t at = 0, other = 0;
  while (at < wanted.size() && other < found.size()) {
    const size_t end = EndOfRequest(wanted, at), other_end = EndOfRequest(found, other);
    if (!CompareRequest(wanted, at, end, found, other, other_end, all)) {
      Break(all, "inputs", at + 1, "", StrCat("call ", at + 1, " gets other inputs"));
      all.exact = false;
      return all;
    }
    at = end, other = other_end;
  }
  return all;
}

std::string Share(double share) { return StrCat(FormatDigits(100 * share, 2), " %"); }

// "; the same choice in 99.2 %, another one first in call 12". Empty: there are none.
std::string ChoiceWords(const Compared& found) {
  if (found.choices == 0) return "";
  if (found.same_choices == found.choices) return "; each row chooses the same";
  return StrCat("; the same choice in ",
                FormatPercent(static_cast<double>(found.same_choices) / static_cast<double>(found.choices)),
                found.first_other_choice ? StrCat(", another one first in call ", *found.first_other_choice) : "");
}

ParityReport Refused(std::string test, size_t call, std::string tensor, std::string reason) {
  return {.verdict = ParityVerdict::kOtherTraining,
          .reason = std::move(reason),
          .step = call,
          .tensor = std::move(tensor),
          .test = std::move(test)};
}

double Limit(double of_probe) { return kOfProbe * std::max(of_probe, kLeast); }

// Holds the errors to those of the probe.
ParityReport Weigh(const Compared& found, const Compared& probe, Precision precision) {
  const double mean = Limit(probe.outputs.mean), largest = Limit(probe.outputs.largest);
  const bool is_wide = found.outputs.mean > mean;
  const std::string errors = StrCat("outputs differ by ", Share(found.outputs.mean), " of their spread in the mean, ",
                                    Share(found.outputs.largest), " at most");
  const std::string allowed =
      StrCat("rounding to ", NameOf(precision), " explains ", Share(mean), " and ", Share(largest));
  ParityReport report{.verdict = ParityVerdict::kRounding, .precision = precision, .test = "outputs"};
  if (found.inputs.mean > Limit(probe.inputs.mean))
    return Refused("inputs", 1, "", StrCat("the model gets other inputs: they differ by ", Share(found.inputs.mean)));
  if (is_wide || found.outputs.largest > largest)
    report = Refused("outputs", std::max<size_t>(1, found.worst_call), found.worst,
                     StrCat("other answers: ", errors, "; ", allowed));
  else
    report.reason = StrCat("the same up to rounding to ", NameOf(precision), ", in ", found.calls, " calls: ", errors,
                           "; ", allowed);
  report.value = is_wide || found.outputs.largest <= largest ? found.outputs.mean : found.outputs.largest;
  report.limit = is_wide || found.outputs.largest <= largest ? mean : largest;
  const double other =
      1 - static_cast<double>(found.same_whole) / static_cast<double>(std::max<size_t>(1, found.whole));
  const double probes_other =
      1 - static_cast<double>(probe.same_whole) / static_cast<double>(std::max<size_t>(1, probe.whole));
  if (found.whole > 0 && other > kOfProbe * probes_other)
    report = Refused("whole", 1, "", StrCat("outputs of whole numbers are other ones in ", FormatPercent(other)));
  report.reason += ChoiceWords(found);
  report.steps = found.calls;
  return report;
}

ParityReport CannotSay(std::string_view reason) { return {.reason = StrCat("cannot tell: ", reason)}; }

}  // namespace

ParityReport DecideOutputs(const OutputBaseline& all, const OutputRecording& candidate, Precision precision) {
  if (all.calls.empty()) return CannotSay("no call of the model of the command as it is was recorded");
  if (candidate.empty()) return CannotSay("no call of the model was recorded with it");
  const Compared found = Compare(all.calls, candidate);
  if (found.exact && found.broken.empty())
    return {.verdict = ParityVerdict::kExact,
            .reason = StrCat("the same outputs, bit for bit, in ", found.calls, " calls"),
            .steps = found.calls};
  const double noise = UnitOf(precision);
  const auto probe = std::ranges::find(all.probes, noise, &OutputProbe::noise);
  if (probe == all.probes.end()) return {.need = ParityNeed::kProbe, .need_noise = noise};
  const Compared probed = Compare(all.calls, probe->calls);
  if (probed.broken == "inputs" || probed.calls == 0)
    return CannotSay("two runs of the command as it is give its model other inputs");
  if (!found.broken.empty()) {
    ParityReport report =
        Refused(found.broken, found.broken_call, found.broken_tensor, StrCat("other answers: ", found.words));
    report.steps = found.calls;
    return report;
  }
  return Weigh(found, probed, precision);
}

}  // namespace gapless::internal
