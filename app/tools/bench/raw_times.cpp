#include "app/tools/bench/raw_times.hpp"

#include <fstream>
#include <iterator>
#include <string>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::string_view kRawMark = "# eventloom-bench-times\n";
constexpr std::string_view kRawHeader = "point,repetition,what,ns\n";
constexpr std::size_t kAtOnce = 1U << 20;

bool is_raw_times(const std::filesystem::path& file) { return head_of(file, kRawMark.size()) == kRawMark; }

}  // namespace

void RawTimes::plan(FilePlan& plan, const std::filesystem::path& file) {
  plan.write(file, "--raw", is_raw_times, FilePlan::Existing::replace);
}

RawTimes::RawTimes(const std::filesystem::path& file) : file_(file, is_raw_times) {
  file_.write(std::as_bytes(std::span(kRawMark)));
  file_.write(std::as_bytes(std::span(kRawHeader)));
}

void RawTimes::write(std::size_t point, std::size_t repetition, std::string_view what,
                     std::span<const std::int64_t> ns) {
  const auto place = fmt::format("{},{},{},", point, repetition, what);
  std::string rows;
  for (const auto time : ns) rows += fmt::format("{}{}\n", place, time);
  file_.write(std::as_bytes(std::span(rows)));
}

void RawTimes::adopt(std::size_t points, const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  std::string rows;
  while (std::getline(in, line)) {
    const auto comma = line.find(',');
    rows += std::to_string(points + std::stoull(line.substr(0, comma))) + line.substr(comma) + "\n";
    if (rows.size() < kAtOnce) continue;
    file_.write(std::as_bytes(std::span(rows)));
    rows.clear();
  }
  file_.write(std::as_bytes(std::span(rows)));
}

void RawTimes::finish() {
  file_.sync();
  file_.publish();
}

}  // namespace eventloom
