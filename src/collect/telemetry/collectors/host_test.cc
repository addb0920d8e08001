// SPDX-License-Identifier: Apache-2.0
// Two looks at a made-up /proc, one second apart; the expected figures are worked out by hand beside each.
#include <gtest/gtest.h>
#include <unistd.h>

#include "collect/telemetry/collector.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal::host_collector {

extern const Collector host_collector;

namespace {

using testing::Decoder;
using testing::FakeRoot;
using testing::Taken;

constexpr int64_t kSecond = 1'000'000'000;

class HostCollector : public ::testing::Test {
 protected:
  // Opens at the first call. One look at `second`.
  Taken Look(double second, std::vector<int64_t> pids = {}) {
    if (session_ == nullptr) {
      auto opened = host_collector.open(root_.sources(), sink_);
      EXPECT_TRUE(opened);
      session_ = std::move(*opened);
    }
    const auto ns = static_cast<int64_t>(second * 1e9);
    sink_.BeginSamples(1'700'000'000 * kSecond + ns);
    session_->Sample({.unix_ns = 1'700'000'000 * kSecond + ns, .mono_ns = ns, .followed = pids}, sink_);
    sink_.EndSamples();
    return decoder_.Take(sink_);
  }
  void Process(int64_t pid, const std::string& name, int64_t minor, int64_t major, int64_t ticks, int64_t pages) const {
    root_.Write("/proc/" + std::to_string(pid) + "/stat",
                std::to_string(pid) + " (" + name + ") S 1 1 1 0 -1 4194560 " + std::to_string(minor) + " 0 " +
                    std::to_string(major) + " 0 " + std::to_string(ticks) + " 0 0 0 20 0 3 0 5000 1000000 " +
                    std::to_string(pages) + " 18446744073709551615 1 1 0 0 0\n");
  }
  FakeRoot root_;
  SampleSink sink_;
  Decoder decoder_;
  std::unique_ptr<CollectorSession> session_;
};

TEST_F(HostCollector, ProcessorsOverOneSecond) {
  // user nice system idle iowait irq softirq steal guest guest_nice, in ticks
  root_.Write("/proc/stat",
              "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\ncpu1 50 0 50 400 0 0 0 0 0 0\n"
              "ctxt 1000\nprocesses 10\nprocs_running 3\nprocs_blocked 1\n");
  EXPECT_FALSE(Look(0).Has("host.cpu.busy"));  // one look is no rate
  root_.Write("/proc/stat",
              "cpu  190 0 120 880 10 0 0 0 0 0\ncpu0 140 0 60 400 0 0 0 0 0 0\ncpu1 50 0 60 480 10 0 0 0 0 0\n"
              "ctxt 6000\nprocesses 12\nprocs_running 2\nprocs_blocked 0\n");
  const Taken taken = Look(1);
  EXPECT_DOUBLE_EQ(taken["host.cpu.busy"], 0.55);    // 90 + 20 of 200 ticks
  EXPECT_DOUBLE_EQ(taken["host.cpu.system"], 0.1);   // 20 of 200
  EXPECT_DOUBLE_EQ(taken["host.cpu.iowait"], 0.05);  // 10 of 200
  EXPECT_DOUBLE_EQ(taken["host.cpu.busiest"], 1);    // cpu0 had no idle tick
  EXPECT_DOUBLE_EQ(taken["host.context_switches"], 5000);
  EXPECT_DOUBLE_EQ(taken["host.forks"], 2);
  EXPECT_DOUBLE_EQ(taken["host.tasks.running"], 2);
  EXPECT_EQ(taken.units.at("host.cpu.busy"), "share");
}

TEST_F(HostCollector, MemoryLoadAndFrequency) {
  root_.Write("/proc/stat", "cpu 1 0 0 1 0 0 0 0 0 0\n");
  root_.Write("/proc/meminfo",
              "MemTotal: 64000 kB\nMemAvailable:   4000 kB\nDirty: 8 kB\nSwapTotal: 100 kB\nSwapFree: 75 kB\n");
  root_.Write("/proc/loadavg", "1.50 1.00 0.50 2/300 4242\n");
  root_.Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  root_.Write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
  const Taken taken = Look(0);
  EXPECT_DOUBLE_EQ(taken["host.memory.available"], 4000 * 1024.0);
  EXPECT_DOUBLE_EQ(taken["host.swap.used"], 25 * 1024.0);
  EXPECT_DOUBLE_EQ(taken["host.load1"], 1.5);
  EXPECT_DOUBLE_EQ(taken["host.cpu.frequency"], 2.5e9);
  EXPECT_EQ(taken.texts.at("host.memory.bytes"), "65536000");
}

TEST_F(HostCollector, NetworkAndWholeDisks) {
  root_.Write("/proc/stat", "cpu 1 0 0 1 0 0 0 0 0 0\n");
  root_.Write("/sys/block/nvme0n1/size", "1\n");
  const auto write = [&](int64_t received, int64_t sectors, int64_t busy_ms) {
    root_.Write("/proc/net/dev",
                "Inter-|   Receive\n face |bytes\n    lo: 500 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n  eth0:" +
                    std::to_string(received) +
                    " 1 0 0 0 0 0 0 4000 1 0 0 0 0 0 0\n  eth1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    const std::string fields =
        " 5 0 " + std::to_string(sectors) + " 9 1 0 80 3 0 " + std::to_string(busy_ms) + " 12 0 0 0 0\n";
    root_.Write("/proc/diskstats", " 259 0 nvme0n1" + fields + " 259 1 nvme0n1p1" + fields);
  };
  write(1000, 100, 10);
  Look(0);
  write(2001000, 2100, 260);
  const Taken taken = Look(0.5);
  EXPECT_DOUBLE_EQ(taken["host.net.receive/eth0"], 4e6);  // 2,000,000 bytes in half a second
  EXPECT_DOUBLE_EQ(taken["host.net.send/eth0"], 0);
  EXPECT_DOUBLE_EQ(taken["host.disk.read/nvme0n1"], 2000 * 512 * 2.0);
  EXPECT_DOUBLE_EQ(taken["host.disk.busy/nvme0n1"], 0.5);  // 250 ms of 500
  EXPECT_FALSE(taken.Has("host.disk.read/nvme0n1p1"));     // counted with its disk
  EXPECT_FALSE(taken.Has("host.net.receive/lo"));
  EXPECT_FALSE(taken.Has("host.net.receive/eth1"));  // never carried anything
}

TEST_F(HostCollector, PressureOfHostAndGroup) {
  root_.Write("/proc/stat", "cpu 1 0 0 1 0 0 0 0 0 0\n");
  root_.Write("/proc/9/cgroup", "0::/job.slice\n");
  const auto write = [&](int64_t total_us) {
    const std::string line = " avg10=0.00 avg60=0.00 avg300=0.00 total=";
    root_.Write("/proc/pressure/io", "some" + line + std::to_string(total_us) + "\nfull" + line + "0\n");
    root_.Write("/sys/fs/cgroup/job.slice/io.pressure", "some" + line + std::to_string(total_us / 2) + "\n");
    root_.Write("/sys/fs/cgroup/job.slice/cpu.stat", "usage_usec 5\nthrottled_usec " + std::to_string(total_us) + "\n");
  };
  root_.Write("/sys/fs/cgroup/job.slice/memory.current", "123456\n");
  write(1000);
  Look(0, {9});
  write(31000);
  const Taken taken = Look(0.1, {9});
  EXPECT_DOUBLE_EQ(taken["host.pressure.io.some"], 0.3);  // 30 ms of 100
  EXPECT_DOUBLE_EQ(taken["host.pressure.io.full"], 0);
  EXPECT_DOUBLE_EQ(taken["cgroup.pressure.io.some"], 0.15);
  EXPECT_DOUBLE_EQ(taken["cgroup.cpu.throttled"], 0.3);
  EXPECT_DOUBLE_EQ(taken["cgroup.memory"], 123456);
  EXPECT_FALSE(taken.Has("host.pressure.cpu.some"));  // this kernel has no such file
}

TEST_F(HostCollector, SumsOverProcessesThatComeAndGo) {
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  root_.Write("/proc/stat", "cpu 1 0 0 1 0 0 0 0 0 0\n");
  Process(10, "python3 (main)", 100, 1, 50, 1000);
  Process(11, "loader", 7, 0, 900, 10);
  root_.Write("/proc/10/io", "rchar: 10\nwchar: 0\nread_bytes: 100\nwrite_bytes: 0\n");
  Look(0, {10, 11});
  Process(10, "python3 (main)", 400, 3, 150, 2000);
  root_.Remove("/proc/11");                  // ended: what it did since the last look is not known
  Process(12, "loader", 5000, 9, 7000, 10);  // new: only its growth from now on counts
  root_.Write("/proc/10/io", "rchar: 1010\nwchar: 0\nread_bytes: 300\nwrite_bytes: 50\n");
  const Taken taken = Look(1, {10, 12});
  EXPECT_DOUBLE_EQ(taken["process.cpu"], 100 / ticks_per_second);
  EXPECT_DOUBLE_EQ(taken["process.faults.minor"], 300);
  EXPECT_DOUBLE_EQ(taken["process.faults.major"], 2);
  EXPECT_DOUBLE_EQ(taken["process.count"], 2);
  EXPECT_DOUBLE_EQ(taken["process.threads"], 6);
  EXPECT_DOUBLE_EQ(taken["process.resident"], 2010.0 * static_cast<double>(sysconf(_SC_PAGESIZE)));
  EXPECT_DOUBLE_EQ(taken["process.disk.read"], 200);
  EXPECT_DOUBLE_EQ(taken["process.read"], 1000);
}

TEST_F(HostCollector, TheBusyThreadsAndSwitchesOfAllThreads) {
  root_.Write("/proc/stat", "cpu 1 0 0 1 0 0 0 0 0 0\n");
  Process(10, "python3", 0, 0, 0, 1);
  const auto thread = [&](int64_t tid, const std::string& comm, int64_t ns, int64_t voluntary, int64_t forced) {
    const std::string folder = "/proc/10/task/" + std::to_string(tid);
    root_.Write(folder + "/schedstat", std::to_string(ns) + " 55 3\n");
    root_.Write(folder + "/comm", comm + "\n");
    root_.Write(folder + "/status", "Name: x\nvoluntary_ctxt_switches:\t" + std::to_string(voluntary) +
                                        "\nnonvoluntary_ctxt_switches:\t" + std::to_string(forced) + "\n");
  };
  thread(10, "python3", 0, 10, 1);
  thread(12, "pt_autograd_0", 1'000'000, 0, 0);
  thread(13, "sleeper", 500, 0, 0);
  Look(0, {10});
  thread(10, "python3", 1'500'000'000, 30, 1);
  thread(12, "pt_autograd_0", 501'000'000, 100, 8);
  const Taken taken = Look(2, {10});
  EXPECT_DOUBLE_EQ(taken["thread.cpu/10/10 python3"], 0.75);
  EXPECT_DOUBLE_EQ(taken["thread.cpu/10/12 pt_autograd_0"], 0.25);
  EXPECT_FALSE(taken.Has("thread.cpu/10/13 sleeper"));
  EXPECT_DOUBLE_EQ(taken["process.switches.voluntary"], 60);  // 20 + 100 in two seconds
  EXPECT_DOUBLE_EQ(taken["process.switches.involuntary"], 4);
}

TEST_F(HostCollector, FilesOfNonsenseGiveNothing) {
  for (const char* file : {"/proc/stat", "/proc/meminfo", "/proc/loadavg", "/proc/net/dev", "/proc/diskstats",
                           "/proc/pressure/cpu", "/proc/10/stat", "/proc/10/io", "/proc/10/cgroup"})
    root_.Write(file, "cpu cpu :: ( ) 12 -1 total= \n\n:\nx");
  Look(0, {10});
  EXPECT_TRUE(Look(1, {10}).values.empty());
}

TEST_F(HostCollector, WithoutProcItSaysSo) {
  const auto opened = host_collector.open(root_.sources(), sink_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kEnvironment);
}

}  // namespace
}  // namespace gapless::internal::host_collector
