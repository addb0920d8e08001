// SPDX-License-Identifier: Apache-2.0
// A fix is a change that can make a step faster. All of it is one file: its name, help and safety, a model that
// predicts its gain from a recording (`gapless predict`), and a trial that measures it in the running program (`gapless
// optimize`). Rules recommend fixes by their names (diagnose/fix_name.h).
//
// To add one: write src/predict/fixes/<name>.cc, end it with
//   FIX(<name>) = {.name = "<name>", .help = "…", .safety = …, .model = {…}, .trial = {…}};
// and leave out the model or the trial that it does not have. How a trial is done is the Python module
// python/gapless/agent/gapless_agent/fixes/<name>.py. Where a fix has both, the model is the preview of its trial.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gapless/safety.h"
#include "predict/fix_model.h"
#include "predict/fix_trial.h"

namespace gapless::internal {

// Fixes are constants; a user's own fix is made at run time.
struct Fix {
  std::string_view name;  // the name of its file and its Python module, and the word for `--what` and `--only`
  std::string_view help;  // one line, imperative, of at most 60 characters, or 80 without a model
  // The most that it may change beside the time; `optimize` compares trainings and refuses a fix that changes more.
  Safety safety = Safety::kExact;
  Safety (*safety_with)(std::string_view value) = nullptr;  // for fixes whose value decides it; null: it does not
  FixModel model{};
  FixTrial trial{};
  std::string_view own_file{};  // Python file of a user's own fix

  bool has_model() const { return model.apply != nullptr; }
  bool has_trial() const { return trial.values != nullptr; }
};

#define FIX(n)              \
  extern const Fix n##_fix; \
  constinit const Fix n##_fix

// Sorted by name. AllFixes() is generated from the folder.
std::span<const Fix* const> AllFixes();
std::span<const Fix* const> FixesWithModel();
std::span<const Fix* const> FixesWithTrial();

// Null: there is no such fix of that name.
const Fix* FindFix(std::string_view name);
const Fix* FindFixWithModel(std::string_view name);
const Fix* FindFixWithTrial(std::string_view name);

// Returns the safety of a fix with `value`; empty: without one.
Safety SafetyOf(const Fix& fix, std::string_view value);
Safety SafetyOf(const WhatIfItem& item);
// Returns the safety of a fix as one usually asks for its prediction: with a value only where the model needs one.
Safety UsualSafetyOf(const Fix& fix);

// Returns true if the two fixes must not be on together.
bool Conflict(const Fix& one, const Fix& other);

// "workers[=N]", as one types it for `predict --what` or `optimize --only`.
std::string ModelUsageOf(const Fix& fix);
std::string TrialUsageOf(const Fix& fix);

}  // namespace gapless::internal
