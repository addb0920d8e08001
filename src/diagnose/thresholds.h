// SPDX-License-Identifier: Apache-2.0
// The smallest share of the analysed time at which each rule fires, each with its source. Below it, a finding is noise
// to a reader.
#pragma once

#include <cstdint>

namespace gapless::internal {

// TensorBoard's profiler plugin recommends num_workers when more than 5 % of the step is spent in the DataLoader.
inline constexpr double kDataLoadingShare = 0.05;

// A kind of work inside the loader is named from a quarter of its time: a cure then saves the step an eighth or more,
// where the loader takes half of it. Our own choice.
inline constexpr double kLoaderWorkShare = 0.25;

// TraceLens flags idle time above 15 % whatever its cause. For a single cause, the rule fires at two thirds of that.
inline constexpr double kLaunchBoundShare = 0.10;

// Ours: as for the data loader. No published analyser has one for synchronisation; a wait that costs less is lost in
// the variation between steps.
inline constexpr double kSynchronizationShare = 0.05;

// TraceLens flags exposed communication above 5 %; the TensorBoard plugin does above 10 %.
inline constexpr double kExposedCommunicationShare = 0.05;
// TraceLens: of the communication, less than this under computation is poor overlap.
inline constexpr double kGoodOverlapShare = 0.70;
// Ours: large messages get half to nine tenths of what the links carry (nccl-tests); a tenth is another transport.
inline constexpr double kSlowLinkShare = 0.10;
// PCIe 4.0 with 16 lanes, in one direction: what any two devices of a host should have at least half of.
inline constexpr double kPcieGbps = 32;
// Fast links show their speed from messages of this size (nccl-tests' curves on NVLink and xGMI).
inline constexpr int64_t kFastLinkBytes = int64_t{4} * 1024 * 1024;
// GPUs in a usual server: groups that are larger cross the network.
inline constexpr int64_t kRanksOfAHost = 8;
// Ours: as for other host work of one kind that a flag turns off.
inline constexpr double kDdpBuffersShare = 0.03;
// Multi-GPU imbalance worth naming: slowest over fastest rank.
inline constexpr double kImbalance = 1.1;

// The TensorBoard plugin warns if no kernel uses tensor cores. Many runs use them for some kernels only, so we look at
// the time of matrix kernels known not to use them: the same share at which the plugin warns about exposed
// communication.
inline constexpr double kNoTensorCoresShare = 0.10;

// Share of the time from which one kind of waste gives the run its class; TraceLens' line for idle time.
inline constexpr double kClassShare = 0.15;
// Ours: a device that computes so much of the time, and three times as much as the largest waste takes, is bound by
// computing all the same when kernels are what pays most to fix.
inline constexpr double kMostlyComputing = 0.65;
inline constexpr double kSmallBesideComputing = 1.0 / 3;
// Share of computing kernels' time in kernels that move data, from which a computing run is memory bound: the larger
// half.
inline constexpr double kMemoryBoundShare = 0.5;

// Share of the time after waits that one kind (explicit, implicit) must cause before its rule fires: two fifths.
inline constexpr double kSyncOwnShare = 0.02;

// Ours: rows of a 16-bit product up to which reading its weights takes longer than multiplying them, on every device
// since the V100 (peak over bandwidth, 139 FLOP/byte on a V100, 156 on an A100, 295 on an H100; two FLOPs for two bytes
// a row).
inline constexpr double kMaxReadingRows = 128;
// FLOP/byte of a product below which it is bound by the memory of every such device, known or not.
inline constexpr double kLowIntensity = 50;

// Host code with nothing launched: as for launches, one cause of idle time alone.
inline constexpr double kHostBoundShare = 0.10;

// Ours: as for host code, of which a rollout is one kind.
inline constexpr double kRolloutShare = 0.10;

// TraceLens flags copies between host and device above 5 % of the time.
inline constexpr double kPageableCopiesShare = 0.05;
// Copies to the device that take more than half of the step.
inline constexpr double kMostlyCopiesShare = 0.50;

// TraceLens' line for copies, taken for casts and copies on the device, which no published analyser judges.
inline constexpr double kNeedlessCopiesShare = 0.05;
// Ours: this number of small copies to the device per step is a habit of the program, not its batch.
inline constexpr double kManySmallCopies = 8;

// Ours: less than what channels_last brings at its worst (PyTorch's memory format tutorial: 8 to 35 %) is not worth it.
inline constexpr double kLayoutChangesShare = 0.03;

// TraceLens reports a fusion candidate from 2 % of the time; we ask for half as much again, because not all of a
// candidate's time goes.
inline constexpr double kUnfusedShare = 0.03;
// Karpathy's GPT-2 series gained 3 % of the step from the fused optimizer where foreach was in use before.
inline constexpr double kUnfusedOptimizerShare = 0.03;
// As for the optimizer's update: a change of one line.
inline constexpr double kZeroGradShare = 0.03;
// TraceLens' line for fusion, doubled: unfused attention costs more than a chain where it matters at all.
inline constexpr double kEagerAttentionShare = 0.05;

// As for the launches a Python loop is part of, halved: it names one place.
inline constexpr double kPythonLoopShare = 0.05;

// TraceLens: a kernel under 10 µs is short; the rule fires if at least half of them are, and they take 5 %.
inline constexpr double kTinyKernelCountShare = 0.50;
inline constexpr double kTinyKernelTimeShare = 0.05;

// Waiting for other ranks from which a straggler is named. Less is enough with a cause that can be
// shown: the ranks' own work differs by kImbalance, or one rank causes most of it and is behind in something.
inline constexpr double kStragglerShare = 0.05;
inline constexpr double kStragglerShareWithCause = 0.02;
// Ours: a rank that is behind the others by less of a step is within what steps vary by, and is not named.
inline constexpr double kLateShare = 0.02;
// Share of the waiting that one rank must cause to be called the straggler: twice as much as all others would be two
// thirds, half is more than any other can cause.
inline constexpr double kOneStragglerShare = 0.5;

// Ours: small messages from which coalescing is worth the code; fewer a step than kSmallCollectivesPerStep are the
// barrier, the loss and the counters that every loop has.
inline constexpr double kSmallCollectivesShare = 0.02;
inline constexpr double kSmallCollectivesPerStep = 10;

// The TensorBoard plugin reports gloo at any cost; this rule fires at the share of other communication rules.
inline constexpr double kSlowBackendShare = 0.05;

// Ours: waits for cudaMalloc, cudaFree, pinned allocations in steady steps; well-warmed steps have none at all.
inline constexpr double kAllocationShare = 0.02;
// The TensorBoard plugin recommends to save memory when the peak is above 90 % of the device's.
inline constexpr double kMemoryPressureShare = 0.90;

// Ours: what a step loses to garbage collection, compilation, checkpoints. They are rare and long, so what a recording
// of few steps shows is coarse; below, it is noise.
// Ours: a run of fewer steps says no more of how often something rare happens than a recording does.
inline constexpr int64_t kWholeRunSteps = 20;
// Ours: with PyTorch's defaults GradScaler doubles the scale every 2000 steps, which skips one step each time at the
// most; the scale's first search skips some ten steps once. 1 %, and more steps than the search, is another matter.
inline constexpr double kSkippedStepsShare = 0.01;
inline constexpr int64_t kSkippedStepsOfTheSearch = 16;
// Ours: in so much of a run's samples a GPU is slowed down, or shared, for another reason than one short event.
inline constexpr double kThrottledShare = 0.05;
inline constexpr double kForeignShare = 0.05;
// Ours: twice the batch fits for certain where half of the memory is free, and helps where the host holds the GPU up.
inline constexpr double kUnusedMemoryShare = 0.50;
inline constexpr double kUnusedMemoryIdleShare = 0.20;
inline constexpr double kGarbageCollectionShare = 0.02;
inline constexpr double kRecompilationShare = 0.03;
inline constexpr double kCheckpointSaveShare = 0.03;

// Ours: outlier steps (3 × 1.4826 MAD and 10 % above the median) are worth a look when they cost a twentieth of the
// time; fewer complete steps than kVariationSteps have no meaningful median.
inline constexpr double kStepVariationShare = 0.05;
inline constexpr int kVariationSteps = 5;
// Ours: where more of the steps than this are outliers they are a rhythm (a loader's workers, accumulation), not
// outliers.
inline constexpr double kRhythmShare = 1.0 / 3;

// Kernel verdicts: the device is underused below 60 %, critically below 40 %; occupancy is low below 30 %. Each is
// reported from the share of the time at which TraceLens reports communication and copies.
inline constexpr double kWellUsedShare = 0.60;
inline constexpr double kBadlyUsedShare = 0.40;
inline constexpr double kLowOccupancyPct = 30;
inline constexpr double kLowMatrixEfficiencyTime = 0.05;
inline constexpr double kUnderfilledTime = 0.05;
inline constexpr double kLowOccupancyTime = 0.05;
// TraceLens' line between short kernels and others; below, launching costs more than running.
inline constexpr double kShortKernelNs = 10'000;
// Ours: every model has kernels that move data; above the share of the time at which TraceLens reports idle time they
// are worth fusing.
inline constexpr double kMemoryBoundTime = 0.15;
// Ours: kernels that reach less of the memory's bandwidth are held up by something else.
inline constexpr double kBandwidthBoundShare = 0.25;
// Ours: with half of the memory free the batch can be doubled; with less the larger batch may not fit.
inline constexpr double kMuchFreeMemoryShare = 0.50;

// Steps without device work, on the host alone. Loading and waiting for ranks: the lines drawn for devices above.
// Ours: pauses (garbage collection, checkpoints, compilation) are looked at from 3 % of the steps, the optimiser's loop
// over parameters from 5 %, of which a fused one leaves a third or less; Python between operators and calling them from
// 25 %, where the operators are tiny: up to ten times what a call takes on that machine. (Means and standard deviations
// of 32 numbers take 3 to 5, on a quiet machine and on a busy one.) Where a recording does not show what a call takes,
// 1.5 µs: half of an operator that makes a view, which are two operators, PyTorch 2.15 with the profiler on.
inline constexpr double kHostPausesShare = 0.03;
inline constexpr double kHostOptimizerShare = 0.05;
inline constexpr int64_t kHostOptimizerOperators = 64;  // operators of one step
inline constexpr double kHostPythonShare = 0.25;
// Ours: as for the data loader, another wait for nothing that computes.
inline constexpr double kHostSleepShare = 0.05;
inline constexpr int64_t kTinyOperatorCalls = 10, kOperatorCallNs = 1'500;

// Ours: a kernel that takes less of the time is not worth a verdict on its metrics.
inline constexpr double kMinMeasuredShare = 0.01;

// TraceLens' line for copies and communication, for the largest waste that no other finding is about.
inline constexpr double kOtherWasteShare = 0.05;

// Ours: fewer events, or a device that works for less of the recording, are no program at work.
inline constexpr int64_t kFewEvents = 100;
inline constexpr double kHardlyBusyShare = 0.05;
inline constexpr int64_t kWorkNs = 2'000'000, kNoWorkNs = 100;
// Ours: where nothing repeats, a device that works for less of the time shows a start.
inline constexpr double kStartBusyShare = 0.10;
// Ours: so few operations of the device, or as many different kernels, repeat nothing.
inline constexpr int64_t kFewOperations = 64;
inline constexpr int64_t kStartNs = 5'000'000;  // one-offs as long as this together are a start

}  // namespace gapless::internal
