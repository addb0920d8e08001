// SPDX-License-Identifier: Apache-2.0
// The thresholds that several rules share, each with its source. That of a single rule stands in the rule's file. Most
// are the smallest share of the analysed time at which a rule fires: below it, a finding is noise to a reader.
#pragma once

#include <cstdint>

namespace gapless::internal {

// TensorBoard's profiler plugin recommends num_workers when more than 5 % of the step is spent in the DataLoader.
inline constexpr double kDataLoadingShare = 0.05;

// TraceLens flags idle time above 15 % whatever its cause. For a single cause, the rule fires at two thirds of that.
inline constexpr double kLaunchBoundShare = 0.10;

// Ours: as for the data loader. No published analyser has one for synchronisation; a wait that costs less is lost in
// the variation between steps.
inline constexpr double kSynchronizationShare = 0.05;

// TraceLens flags exposed communication above 5 %; the TensorBoard plugin does above 10 %.
inline constexpr double kExposedCommunicationShare = 0.05;
// Multi-GPU imbalance worth naming: slowest over fastest rank.
inline constexpr double kImbalance = 1.1;

// Share of the time after waits that one kind (explicit, implicit) must cause before its rule fires: two fifths.
inline constexpr double kSyncOwnShare = 0.02;

// Ours: as for host code, of which a rollout is one kind.
inline constexpr double kRolloutShare = 0.10;

// TraceLens reports a fusion candidate from 2 % of the time; we ask for half as much again, because not all of a
// candidate's time goes.
inline constexpr double kUnfusedShare = 0.03;

// Waiting for other ranks from which a straggler is named.
inline constexpr double kStragglerShare = 0.05;
// Ours: a rank that is behind the others by less of a step is within what steps vary by, and is not named.
inline constexpr double kLateShare = 0.02;
// Share of the waiting that one rank must cause to be called the straggler: twice as much as all others would be two
// thirds, half is more than any other can cause.
inline constexpr double kOneStragglerShare = 0.5;

// Ours: what a step loses to garbage collection, compilation, checkpoints. They are rare and long, so what a recording
// of few steps shows is coarse; below, it is noise.
inline constexpr double kGarbageCollectionShare = 0.02;
inline constexpr double kRecompilationShare = 0.03;
inline constexpr double kCheckpointSaveShare = 0.03;
// Ours: evaluation is work that the user wants; what takes less than a twentieth of the run is not worth a word.
inline constexpr double kEvaluationShare = 0.05;

// Kernel verdicts: the device is underused below 60 %, critically below 40 %.
inline constexpr double kWellUsedShare = 0.60;
inline constexpr double kBadlyUsedShare = 0.40;
// The share of the time at which TraceLens reports communication and copies.
inline constexpr double kUnderfilledTime = 0.05;
// TraceLens' line between short kernels and others; below, launching costs more than running.
inline constexpr double kShortKernelNs = 10'000;

inline constexpr int64_t kHostOptimizerOperators = 64;  // operators of one step
// Ours: Python between operators, and calling operators that are tiny, is looked at from 25 % of the steps.
inline constexpr double kHostPythonShare = 0.25;

// Ours: what an engine loses by one habit of its own (scheduling, detokenisation, iterations without their graph) is
// worth a word from where waiting for data is.
inline constexpr double kEngineShare = 0.05;
// Ours: with fewer iterations their median says nothing.
inline constexpr size_t kMinIterations = 8;

// Ours: a recording of fewer events is no program at work. The smallest real step that we know has a few hundred.
inline constexpr int64_t kMinEvents = 100;

// Ours: a kernel that takes less of the time is not worth a verdict on its metrics.
inline constexpr double kMinMeasuredShare = 0.01;

}  // namespace gapless::internal
