#include "app/observe/disk_watch.hpp"

#include <system_error>

namespace eventloom {

namespace {

constexpr std::chrono::seconds kMinute{60};
/// Parts are written in bursts, so a shorter interval says little about how fast a disk fills.
constexpr double kLeast_s = 5;

double seconds_from(DiskWatch::Time from, DiskWatch::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

DiskFigures DiskWatch::look(Time now) {
  std::error_code error;
  const auto space = std::filesystem::space(folder_.empty() ? "." : folder_, error);
  if (error) return {};
  return add(now, static_cast<double>(space.available));
}

DiskFigures DiskWatch::add(Time now, double free_bytes) {
  looks_.push_back({now, free_bytes});
  while (looks_.size() > 2 && now - looks_[1].time >= kMinute) looks_.pop_front();
  DiskFigures figures{free_bytes, std::nullopt};
  const auto& first = looks_.front();
  const double seconds = seconds_from(first.time, now);
  const double filled = first.free_bytes - free_bytes;
  if (seconds >= kLeast_s && filled > 0) figures.left_s = free_bytes * seconds / filled;
  return figures;
}

}  // namespace eventloom
