// SPDX-License-Identifier: Apache-2.0
// Modules form a tree, as their calls do. The cut begins with the outermost ones; the module whose largest call is the
// largest of all is replaced by those it calls, again and again, and the best of these cuts is the answer.
#include "analyses/checkpoint_blocks.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>
#include <vector>

namespace gapless::internal {
namespace {

// All calls of modules from one place.
struct Modules {
  StackId call{};
  std::vector<uint32_t> made{};   // the activations below it
  std::vector<uint32_t> inner{};  // places that they call modules from
  int64_t calls = 0, freed = 0, largest = 0;
};

class Cutter {
 public:
  Cutter(const Trace& trace, std::span<const Activation> alive) : trace_(trace), alive_(alive) {
    is_call_.assign(trace.stacks.size(), kUnasked);
    for (uint32_t i = 0; i < alive.size(); ++i) Place(i);
    for (Modules& modules : all_) Measure(modules);
  }

  std::optional<CheckpointSaving> Best() const {
    size_t best = 0;
    int64_t most = 0;
    Cut(SIZE_MAX, [&](size_t splits, int64_t freed) {
      if (freed > most) most = freed, best = splits;
    });
    if (most == 0) return std::nullopt;
    CheckpointSaving saving{.freed_bytes = most};
    int64_t freed_by_one = 0;
    for (const uint32_t chosen : Cut(best, [](size_t, int64_t) {})) {
      const Modules& modules = all_[chosen];
      if (modules.freed > 0) saving.modules += modules.calls;
      if (modules.freed > freed_by_one) freed_by_one = modules.freed, saving.call = modules.call;
    }
    return saving;
  }

 private:
  static constexpr uint8_t kUnasked = 2;

  bool IsCall(StackId frame) {
    uint8_t& known = is_call_[frame.value];
    if (known == kUnasked) {
      const std::string_view file = trace_.Text(trace_.stacks.file[frame.value]);
      const bool is_of_module = file.ends_with("torch/nn/modules/module.py") ||  //
                                file.ends_with("torch\\nn\\modules\\module.py");
      known = is_of_module && trace_.Text(trace_.stacks.function[frame.value]).ends_with("_call_impl") ? 1 : 0;
    }
    return known == 1;
  }

  // Puts an activation below all modules in its stack. Of frames of Module that call each other the innermost counts.
  void Place(uint32_t number) {
    std::vector<StackId> calls;  // the innermost first
    bool is_inner_call = false;
    for (StackId at = alive_[number].stack; at.valid(); at = trace_.stacks.parent[at.value]) {
      if (IsCall(at) && !is_inner_call) calls.push_back(at);
      is_inner_call = IsCall(at);
    }
    uint32_t outer = kNoRowValue;
    for (size_t i = calls.size(); i-- > 0;) {
      const auto [found, is_new] = places_.try_emplace(calls[i].value, static_cast<uint32_t>(all_.size()));
      if (is_new) {
        all_.push_back({.call = calls[i]});
        (outer == kNoRowValue ? outermost_ : all_[outer].inner).push_back(found->second);
      }
      all_[found->second].made.push_back(number);
      outer = found->second;
    }
  }

  // The stack that a call begins with: the earliest of those that come less than twice as often as the rarest. What
  // is made once in a module says that it was called once; in the backward pass some calls have lost a part.
  StackId BeginningOf(const Modules& modules) const {
    std::map<uint32_t, size_t> times;
    for (const uint32_t i : modules.made) ++times[alive_[i].stack.value];
    size_t rarest = SIZE_MAX;
    for (const auto& [stack, count] : times) rarest = std::min(rarest, count);
    for (const uint32_t i : modules.made)
      if (times[alive_[i].stack.value] < 2 * rarest) return alive_[i].stack;
    return {};
  }

  void Measure(Modules& modules) const {
    const StackId beginning = BeginningOf(modules);
    int64_t bytes = 0, last = 0;
    bool has_begun = false;
    const auto end_call = [&] {
      modules.freed += bytes - last, modules.largest = std::max(modules.largest, bytes - last);
      ++modules.calls;
    };
    for (const uint32_t i : modules.made) {
      const bool begins = alive_[i].stack == beginning;
      if (begins && has_begun) end_call(), bytes = 0;
      has_begun = has_begun || begins;
      bytes += last = alive_[i].bytes;
    }
    end_call();
  }

  // Modules that make nothing but what one place in them calls are that place's: a model around the loop of its layers
  // looks as if it were called as often as they are.
  uint32_t Innermost(uint32_t modules) const {
    while (all_[modules].inner.size() == 1) {
      const uint32_t inner = all_[modules].inner[0];
      if (all_[inner].made.size() != all_[modules].made.size()) break;
      modules = inner;
    }
    return modules;
  }

  // Splits `splits` times, or until nothing is left; `see` is told what each cut frees. Returns the last cut.
  template <class See>
  std::vector<uint32_t> Cut(size_t splits, const See& see) const {
    std::priority_queue<std::pair<int64_t, uint32_t>> chosen;  // by the largest call
    int64_t freed = 0;
    const auto choose = [&](const std::vector<uint32_t>& modules) {
      for (const uint32_t given : modules) {
        const uint32_t one = Innermost(given);
        chosen.emplace(all_[one].largest, one), freed += all_[one].freed;
      }
    };
    choose(outermost_);
    for (size_t done = 0; !chosen.empty(); ++done) {
      see(done, freed - chosen.top().first);
      if (done == splits) break;
      const uint32_t split = chosen.top().second;
      chosen.pop();
      freed -= all_[split].freed;
      choose(all_[split].inner);
    }
    std::vector<uint32_t> cut;
    for (; !chosen.empty(); chosen.pop()) cut.push_back(chosen.top().second);
    return cut;
  }

  const Trace& trace_;
  std::span<const Activation> alive_;
  std::vector<uint8_t> is_call_;
  std::map<uint32_t, uint32_t> places_;  // frame of a call, to a place in all_
  std::vector<Modules> all_;
  std::vector<uint32_t> outermost_;
};

}  // namespace

std::optional<CheckpointSaving> FindCheckpointSaving(const Trace& trace, std::span<const Activation> alive) {
  return Cutter(trace, alive).Best();
}

}  // namespace gapless::internal
