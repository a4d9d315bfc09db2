#include "io/serve/mbs_tap.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include "core/runtime/clock.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/signals_blocked.hpp"

namespace eventloom {

namespace {

/// Most bytes given but not yet taken by the thread.
constexpr std::size_t kMostGivenBytes = std::size_t{16} << 20;
constexpr std::int64_t kTapPoll = 250'000'000;
constexpr std::int64_t kTapEndNs = 2'000'000'000;
/// Gives the run priority if cores are shared.
constexpr int kTapNiceness = 10;

Descriptor new_wake() {
  Descriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  return wake;
}

}  // namespace

MbsTap::MbsTap(const MbsClientsSettings& settings, const MbsLayout& layout)
    : clients_(settings, layout), address_(clients_.address()), wake_(new_wake()) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

MbsTap::~MbsTap() {
  if (!thread_.joinable()) return;
  end(Ending::at_once);
  thread_.join();
}

void MbsTap::give(MbsGroupPtr group) {
  const std::lock_guard lock(mutex_);
  if (given_bytes_ >= kMostGivenBytes) {
    not_taken_.dropped_events += connected_ * group->events;
    not_taken_.dropped_buffers += connected_ * group->buffers;
    return;
  }
  given_bytes_ += group->bytes.size();
  given_.push_back(std::move(group));
  if (given_.size() == 1) wake();
}

void MbsTap::end() { end(Ending::in_good_order); }

void MbsTap::end(Ending how) {
  const std::lock_guard lock(mutex_);
  ending_ = how;
  wake();
}

void MbsTap::join() {
  if (thread_.joinable()) thread_.join();
}

MbsTap::Totals MbsTap::totals() const {
  const std::lock_guard lock(mutex_);
  auto totals = totals_;
  totals.all.sent.add(not_taken_);
  return totals;
}

void MbsTap::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.number(), &one, sizeof one);
}

/// Catches all errors, so that a failing tap does not stop the program.
void MbsTap::run() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kTapNiceness);
  try {
    serve();
  } catch (const std::exception& e) {
    log::error("tap: {}; its clients are disconnected", e.what());
  }
  clients_.stop_listening();
  clients_.drop_all();
  publish();
}

void MbsTap::serve() {
  while (true) {
    const auto now = steady_ns();
    deliver_given();
    clients_.serve(now);
    publish();
    if (over(now)) return;
    clients_.wait(kTapPoll, wake_.number());
  }
}

void MbsTap::deliver_given() {
  std::uint64_t calls = 0;
  [[maybe_unused]] const auto read = ::read(wake_.number(), &calls, sizeof calls);
  std::vector<MbsGroupPtr> groups;
  {
    const std::lock_guard lock(mutex_);
    groups.swap(given_);
    given_bytes_ = 0;
  }
  for (const auto& group : groups) clients_.deliver(group);
}

/// Whether the thread may exit. Groups given since the last delivery are delivered first.
bool MbsTap::over(std::int64_t now) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_ == Ending::at_once) return true;
    if (ending_ == Ending::no || !given_.empty()) return false;
  }
  if (end_by_ == 0) {
    end_by_ = now + kTapEndNs;
    clients_.stop_listening();
    clients_.finish();
    clients_.serve(now);
  }
  return clients_.empty() || now > end_by_;
}

void MbsTap::publish() {
  connected_ = clients_.size();
  const std::lock_guard lock(mutex_);
  totals_ = {clients_.size(), clients_.totals()};
}

}  // namespace eventloom
