// SPDX-License-Identifier: Apache-2.0
// The yardstick for reading: how fast can the events of a Kineto file become eight columns at all?
//
//   yardstick FILE THREADS
//
// Each thread fetches windows of the file into a buffer it uses again, cuts them at the separator this one file has
// between events, walks them with simdjson On-Demand and appends eight columns. It knows one layout, keeps no other
// argument, merges nothing, links nothing, checks nothing: a lower bound for any reader built on the same parser.
#include <fcntl.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

namespace od = simdjson::ondemand;
constexpr size_t kWindow = size_t{4} << 20, kSlack = size_t{1} << 20;
constexpr std::string_view kBetween = "\n  },\n  {\n";
constexpr size_t kCommaAt = 4;  // of the separator

struct Columns {
  std::vector<uint32_t> name, category;
  std::vector<int64_t> pid, tid, ts_ns, dur_ns, correlation, external_id;
  std::unordered_map<std::string, uint32_t> ids;

  uint32_t Id(std::string_view text) {
    return ids.try_emplace(std::string(text), static_cast<uint32_t>(ids.size())).first->second;
  }
};

int64_t Digits(std::string_view token) {
  int64_t value = 0;
  for (const char c : token)
    if (c >= '0' && c <= '9') value = value * 10 + (c - '0');
  return value;
}

void TakeArgs(od::value value, Columns& columns) {
  int64_t correlation = -1, external = -1;
  od::object args;
  if (value.get_object().get(args) == simdjson::SUCCESS)
    for (auto arg : args) {
      const std::string_view key = arg.unescaped_key().value();
      if (key == "correlation")
        correlation = Digits(arg.value().raw_json_token());
      else if (key == "external id" || key == "External id")
        external = Digits(arg.value().raw_json_token());
    }
  columns.correlation.push_back(correlation);
  columns.external_id.push_back(external);
}

void TakeEvent(od::object event, Columns& columns) {
  uint32_t name = 0, category = 0;
  int64_t pid = 0, tid = 0, ts = 0, dur = 0;
  for (auto field : event) {
    const std::string_view key = field.unescaped_key().value();
    if (key == "args") {
      TakeArgs(field.value(), columns);
      continue;
    }
    const std::string_view token = field.value().raw_json_token();
    if (key == "name")
      name = columns.Id(token);
    else if (key == "cat")
      category = columns.Id(token);
    else if (key == "pid")
      pid = Digits(token);
    else if (key == "tid")
      tid = Digits(token);
    else if (key == "ts")
      ts = Digits(token) * 1000;
    else if (key == "dur")
      dur = Digits(token) * 1000;
  }
  columns.name.push_back(name);
  columns.category.push_back(category);
  columns.pid.push_back(pid);
  columns.tid.push_back(tid);
  columns.ts_ns.push_back(ts);
  columns.dur_ns.push_back(dur);
}

// The events of the window [first, last) of `buffer`, which has a byte to spare at both ends.
void TakeWindow(od::parser& parser, char* first, char* last, size_t capacity, Columns& columns) {
  first[-1] = '[';
  *last = ']';
  od::document document;
  if (parser.iterate(first - 1, static_cast<size_t>(last - first) + 2, capacity).get(document) != simdjson::SUCCESS)
    std::exit(3);
  for (auto item : document.get_array()) TakeEvent(item.get_object(), columns);
}

void Work(int fd, size_t size, std::atomic<size_t>& next, Columns& columns) {
  std::vector<char> buffer(1 + kWindow + kSlack + simdjson::SIMDJSON_PADDING);
  od::parser parser;
  for (size_t window; (window = next++) * kWindow < size;) {
    const size_t at = window * kWindow;
    char* text = buffer.data() + 1;
    const ssize_t got = pread(fd, text, std::min(size - at, kWindow + kSlack), static_cast<off_t>(at));
    const auto count = static_cast<size_t>(got);
    const auto separator_from = [&](size_t from) {
      return static_cast<char*>(memmem(text + from, count - from, kBetween.data(), kBetween.size()));
    };
    char* first = window == 0 ? std::strchr(std::strstr(text, "\"traceEvents\""), '[') + 1 : separator_from(0);
    if (first == nullptr) std::exit(3);
    if (window > 0) first += kCommaAt + 1;
    char* last = text + count;
    if (at + kWindow < size)
      last = separator_from(kWindow) + kCommaAt;
    else
      while (*--last != ']') {
      }
    TakeWindow(parser, first, last, static_cast<size_t>(buffer.data() + buffer.size() - (first - 1)), columns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: yardstick FILE THREADS\n"), 2;
  const int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) return std::perror(argv[1]), 3;
  const auto threads = static_cast<size_t>(std::max(1, std::atoi(argv[2])));
  std::atomic<size_t> next{0};
  std::vector<Columns> columns(threads);
  std::vector<std::thread> workers;
  for (size_t i = 0; i < threads; ++i)
    workers.emplace_back([&, i] { Work(fd, static_cast<size_t>(info.st_size), next, columns[i]); });
  size_t events = 0;
  for (size_t i = 0; i < threads; ++i) {
    workers[i].join();
    events += columns[i].ts_ns.size();
  }
  std::printf("%zu events\n", events);
  return 0;
}
