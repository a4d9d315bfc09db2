#include "app/command/common_clock.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/mpi/mpi_message_channel.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

/// The processes of a kernel and of one of its time namespaces share CLOCK_MONOTONIC, whatever their host names.
std::string clock_id() {
  std::error_code none;  // kernels without time namespaces
  return kernel_id() + " " + std::filesystem::read_symlink("/proc/self/ns/time", none).string();
}

}  // namespace

bool share_steady_clock(const Communicator& communicator) {
  const auto ids = communicator.all_gather(clock_id());
  return std::ranges::count(ids, ids.front()) == communicator.size();
}

CommonClock::CommonClock(const Communicator& communicator) {
  if (share_steady_clock(communicator)) return;
  sync_ = std::make_unique<ClockSync>(std::make_unique<MpiMessageChannel>(communicator), communicator.rank(),
                                      communicator.size(), ClockSync::Settings{});
  sync_->synchronise(idle_);
}

CommonClock::~CommonClock() {
  if (sync_) sync_->stop(idle_);
}

void CommonClock::refresh() {
  if (sync_) sync_->synchronise(idle_);
}

void CommonClock::do_work() {
  if (sync_) sync_->do_work(steady_ns());
}

}  // namespace eventloom
