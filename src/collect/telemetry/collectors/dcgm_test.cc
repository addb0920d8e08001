// SPDX-License-Identifier: Apache-2.0
// A script stands in for dcgmi, a socket for the exporter.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "collect/telemetry/collector.h"
#include "collect/telemetry/testing/fake_root.h"

namespace gapless::internal::dcgm_collector {

extern const Collector dcgm_collector;

namespace {

using testing::Decoder;
using testing::FakeRoot;
using testing::Taken;

class DcgmCollector : public ::testing::Test {
 protected:
  std::string Script(const std::string& name, const std::string& text) const {
    root_.Write("/bin/" + name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(root_.folder() + "/bin/" + name, std::filesystem::perms::owner_all);
    return root_.folder() + "/bin/" + name;
  }
  // Looks until something came, two seconds at most.
  Taken LookAt(const TelemetrySources& sources) {
    auto session = dcgm_collector.open(sources, sink_);
    EXPECT_TRUE(session);
    Taken taken;
    for (int64_t i = 0; session && i < 200 && taken.values.empty(); ++i) {
      (*session)->Sample({.unix_ns = i, .mono_ns = i * 10'000'000}, sink_);
      sink_.EndSamples();
      taken = decoder_.Take(sink_);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return taken;
  }
  FakeRoot root_;
  SampleSink sink_;
  Decoder decoder_;
};

TEST_F(DcgmCollector, ReadsDmon) {
  const std::string dcgmi = Script("dcgmi",
                                   "[ \"$1 $2 $3\" = \"dmon -e 1001,1002,1003,1004,1005,1006,1007,1008,1009,1010,1011,"
                                   "1012\" ] || exit 1\ncat <<END\n"
                                   "#Entity GRACT SMACT SMOCC TENSO DRAMA FP64A FP32A FP16A PCITX PCIRX NVLTX NVLRX\n"
                                   "ID\n"
                                   "GPU 3   0.912 0.874 0.500 0.250 0.333 N/A   0.100 0.000 1234 5678 N/A 19687914629\n"
                                   "END\n");
  const Taken taken = LookAt({.nvml_library = "", .dcgmi = dcgmi});
  EXPECT_DOUBLE_EQ(taken["gpu.dcgm.sm_active@3"], 0.874);
  EXPECT_DOUBLE_EQ(taken["gpu.dcgm.tensor_active@3"], 0.25);
  EXPECT_DOUBLE_EQ(taken["gpu.dcgm.pcie.receive@3"], 5678);
  EXPECT_DOUBLE_EQ(taken["gpu.dcgm.nvlink.receive@3"], 19687914629.0);
  EXPECT_FALSE(taken.Has("gpu.dcgm.fp64_active@3"));  // N/A is absent
  EXPECT_EQ(taken.units.at("gpu.dcgm.pcie.send@3"), "bytes/s");
}

// Answers one request with `body`, as an exporter would.
class OneAnswer {
 public:
  explicit OneAnswer(std::string body) : body_(std::move(body)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(socket_, 4) == 0 &&
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
      port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~OneAnswer() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/metrics"; }

 private:
  void Serve() const {
    const int one = accept(socket_, nullptr, nullptr);
    if (one < 0) return;
    char request[4096];
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
                               std::to_string(body_.size()) + "\r\n\r\n" + body_;
    if (read(one, request, sizeof request) > 0 && write(one, answer.data(), answer.size()) < 0) perror("write");
    close(one);
  }
  std::string body_;
  int socket_ = -1;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(DcgmCollector, ReadsAnExporter) {
  const OneAnswer exporter(
      "# HELP DCGM_FI_PROF_SM_ACTIVE x\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"1\",UUID=\"GPU-1\",Hostname=\"a}b\"} 0.75\n"
      "DCGM_FI_PROF_SM_ACTIVE{gpu=\"2\",UUID=\"GPU-2\",GPU_I_ID=\"3\"} 0.5\n"
      "DCGM_FI_DEV_GPU_TEMP{gpu=\"1\"} 40\nDCGM_FI_PROF_DRAM_ACTIVE{gpu=\"x\"} 1\n}{\n");
  const Taken taken = LookAt({.exporter_url = exporter.url()});
  EXPECT_EQ(taken.values.size(), 1U);
  EXPECT_DOUBLE_EQ(taken["gpu.dcgm.sm_active@1"], 0.75);
}

TEST_F(DcgmCollector, AnExporterThatIsNotThereGivesNothing) {
  EXPECT_FALSE(dcgm_collector.open({.exporter_url = "ftp://x"}, sink_));
  EXPECT_FALSE(dcgm_collector.open({.exporter_url = "http://"}, sink_));
  auto session = dcgm_collector.open({.exporter_url = "http://127.0.0.1:1/metrics"}, sink_);
  ASSERT_TRUE(session);
  (*session)->Sample({.unix_ns = 1, .mono_ns = 1}, sink_);
  sink_.EndSamples();
  EXPECT_TRUE(decoder_.Take(sink_).values.empty());
}

TEST_F(DcgmCollector, SaysWhyThereIsNothing) {
  const auto opened = dcgm_collector.open({.dcgmi = root_.folder() + "/no-such-program"}, sink_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kEnvironment);
}

TEST_F(DcgmCollector, AProgramThatFailsGivesNothing) {
  auto session = dcgm_collector.open({.dcgmi = Script("dcgmi", "echo Error: no host engine\nexit 255\n")}, sink_);
  ASSERT_TRUE(session);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  (*session)->Sample({.unix_ns = 1, .mono_ns = 1}, sink_);
  sink_.EndSamples();
  EXPECT_TRUE(decoder_.Take(sink_).values.empty());
}

}  // namespace
}  // namespace gapless::internal::dcgm_collector
