// SPDX-License-Identifier: Apache-2.0
// From which share of the analysed time a rule speaks, each with where it comes from. Below, a finding is noise to a
// reader.
#pragma once

namespace gapless {

// TensorBoard's profiler plugin recommends num_workers when more than 5 % of the step is spent in the DataLoader.
inline constexpr double kDataLoadingShare = 0.05;

// TraceLens flags idle time above 15 % whatever its cause. For one cause alone we speak at two thirds of that.
inline constexpr double kLaunchBoundShare = 0.10;

// Ours: as for the data loader. No published analyser has one for synchronisation; a wait that costs less is lost in
// the variation between steps.
inline constexpr double kSynchronizationShare = 0.05;

// TraceLens flags exposed communication above 5 %; the TensorBoard plugin speaks at 10 %.
inline constexpr double kExposedCommunicationShare = 0.05;
// TraceLens: of the communication, less than this under computation is poor overlap.
inline constexpr double kGoodOverlapShare = 0.70;
// Multi-GPU imbalance worth naming: slowest over fastest rank (requirement B4).
inline constexpr double kImbalance = 1.1;

// The TensorBoard plugin speaks when no kernel at all uses tensor cores. Many runs use them for some kernels only, so
// we look at the time of matrix kernels known not to use them: as much as communication must be exposed for the plugin
// to speak.
inline constexpr double kNoTensorCoresShare = 0.10;

// Share of the time from which one kind of waste gives the run its class; TraceLens' line for idle time.
inline constexpr double kClassShare = 0.15;

}  // namespace gapless
