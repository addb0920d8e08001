// SPDX-License-Identifier: Apache-2.0
// Run: everything known about one job, as a list of traces with their roles, on one time axis.
//
// Several recordings of one thing must not be counted twice. For one execution, process and time span exactly one
// recording is primary; the others are supplements. Executions are what does not belong together (trace/identity.h):
// runs of the program at other times, other jobs, a second file of a rank, what only infers beside training. Execution
// 0 is the one with the most processes, and the first of equals. Analyses and the plain SQL tables see primary traces
// of execution 0 only: iterate over `primary()`. Of a job of several roles (trace/job_role.h) they see the leading one,
// whose steps are the job's; the analyses that hold roles against each other iterate over `of_all_roles()`.
//
// Row ids shown outside are unique per table over the run: base + row, with one base per trace and table (`IdBase`), in
// the order of `traces`, which depends on the recordings only and not on the order in which they were read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/identity.h"
#include "trace/job_role.h"
#include "trace/trace.h"

namespace gapless::internal {

// A RunTrace is one recording with its place in the run.
struct RunTrace {
  std::shared_ptr<const Trace> trace;
  int index = 0;  // position in the run: the key `trace` of every table
  Role role = Role::kPrimary;
  int execution = 0;
  // Index of the first recording of the same process and execution. Several primary ones are stretches of it, one after
  // the other (a profiler whose schedule repeats writes a file each time): one rank with more steps, not more ranks.
  int process = 0;
  // If no process of the execution says its rank, processes that use a device are numbered in the order of their
  // names; kAbsent: they are not, or the recording says it.
  int64_t assigned_rank = kAbsent;
  // Why the recording is not of execution 0: its relation to the recording with index `apart_from` of that; -1: it is.
  Relation relation = Relation::kSameJob;
  int apart_from = -1;
  std::string job_role{};   // the role of its process in the job; empty: nobody says one
  bool leads = true;        // it is of the leading role, or of no role
  int64_t ts_shift_ns = 0;  // run time = trace time + shift; run time 0 is the start of the execution's earliest trace
  IdBase base;

  // Is it of what is analysed, primary or supplement?
  bool counts() const { return execution == 0 && leads; }
  int64_t rank() const { return assigned_rank != kAbsent ? assigned_rank : trace->info.rank; }  // kAbsent: none
  int64_t Id(SliceId row) const { return row.valid() ? base.slice + row.value : kAbsent; }
  int64_t Id(GpuOpId row) const { return row.valid() ? base.gpu_op + row.value : kAbsent; }
  int64_t Id(StackId row) const { return row.valid() ? base.stack + row.value : kAbsent; }
};

// A Run shares its traces and does not change after it was made, so several threads may read it.
class Run {
 public:
  Run() = default;
  // Orders the traces (by rank, start, pid, path; what was recorded around processes comes last), decides roles and
  // executions, sets the common time axis and the id bases. Leaves out traces of other ranks than `ranks`, unless that
  // is empty.
  explicit Run(std::vector<std::shared_ptr<const Trace>> traces, std::span<const int64_t> ranks = {},
               std::shared_ptr<const RoleChoice> roles = {});
  // Takes traces whose roles, order and time axis are settled: those of another run, or stretches of them.
  explicit Run(std::vector<RunTrace> settled) : traces_(std::move(settled)) {}

  std::span<const RunTrace> traces() const { return traces_; }
  // The user's division of the job; null: the processes say it. Whoever makes a run of the same recordings passes it
  // on.
  const std::shared_ptr<const RoleChoice>& roles() const { return choice_; }
  // Primary traces of execution 0, of the leading role.
  std::vector<const RunTrace*> primary() const;
  // Primary traces of execution 0 that have a role; empty: nobody says one.
  std::vector<const RunTrace*> of_all_roles() const;

 private:
  std::vector<RunTrace> traces_;
  std::shared_ptr<const RoleChoice> choice_{};
};

// Names a recording so that a person finds the file: "a.json", or "worker0/a.json" where another recording of the run
// has the same file name: then the path below the folder of all. As recorded: not safe to print.
std::string RecordingName(const Run& run, const RunTrace& of);

}  // namespace gapless::internal
