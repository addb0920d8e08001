// SPDX-License-Identifier: Apache-2.0
// Recordings made by hand: tensors and a buffer, whose differences from the baseline have exactly the size that a test
// asks for.
#pragma once

#include <cmath>
#include <functional>

#include "validate/parity.h"

namespace gapless::internal::testing {

inline constexpr size_t kEvents = 20, kTensors = 4;
// Unit of bf16, noise of the probe for all other units, and unit of fp32.
inline constexpr double kUnit = 0x1p-9, kFine = 0x1p-11, kNear = 0x1p-20;

inline TensorPrint PrintOf(double norm) {
  TensorPrint print{.norm = norm};
  print.sketch[0] = norm;
  return print;
}

inline ParityRecording Plain() {
  ParityRecording recording;
  for (size_t i = 0; i < kEvents; ++i) {
    ParityEvent event{.optimizer_class = "AdamW"};
    event.settings = {{{"lr", "0.002"}, {"weight_decay", "0.05"}}};
    event.samples = 32;
    event.rows = event.order = event.random = event.state = static_cast<uint32_t>(1000 + i);
    event.losses = {2.0};
    event.shadow.emplace(kTensors, 1e-7);
    event.handed = true;
    event.gradients.assign(kTensors, PrintOf(1));
    event.buffers = {PrintOf(1)};
    if (i == 0) {
      event.start = 7;
      event.names = {"conv1.weight", "conv2.weight", "fc.weight", "fc.bias"};
      event.buffer_names = {"norm.running_mean"};
    }
    recording.events.push_back(std::move(event));
  }
  return recording;
}

// Turns a gradient by `share` of its norm, which stays as it was but for the square of that.
inline void Turn(TensorPrint& print, double share) {
  print.sketch[1] = share;
  print.norm = std::hypot(print.sketch[0], share);
}

// All gradients of all events but the first `begin` ones differ by `share`.
inline ParityRecording Turned(double share, size_t begin = 0) {
  ParityRecording recording = Plain();
  for (size_t i = begin; i < kEvents; ++i) {
    for (TensorPrint& print : recording.events[i].gradients) Turn(print, share);
    recording.events[i].state = *recording.events[i].state + 1;
  }
  return recording;
}

// A probe has no noise in its first step.
inline ParityRecording Probe(double noise, double effect) {
  ParityRecording probe = Turned(effect, 1);
  probe.noise = noise;
  return probe;
}

// Noise of a size turns the gradients by as much.
inline ParityBaseline Known() {
  return {.baseline = Plain(), .probes = {Probe(kFine, kFine), Probe(kUnit, kUnit), Probe(kNear, kNear)}};
}

// The baseline with other random numbers: its losses vary a little, and the norm of its gradients, which are clipped,
// not.
inline ParityRecording OtherSeed() {
  ParityRecording recording = Plain();
  for (size_t i = 0; i < kEvents; ++i) recording.events[i].losses = {i % 2 == 0 ? 2.001 : 1.999};
  return recording;
}

inline ParityRecording Edited(const std::function<void(ParityEvent&, size_t)>& edit) {
  ParityRecording recording = Plain();
  for (size_t i = 0; i < kEvents; ++i) edit(recording.events[i], i);
  return recording;
}

}  // namespace gapless::internal::testing
