#include "app/observe/run_desk.hpp"

#include <utility>

#include "core/runtime/format.hpp"
#include "io/run_format/run_log.hpp"

namespace eventloom {

std::string RunDesk::refusal(const RunRequest& request) const {
  const bool starts = request.what == RunRequest::What::start;
  const bool serves = begin_ || busy_;
  if (starts && running_ && !serves) {
    return fmt::format("run {} is active; stop-run ends it, next-run also begins another", last_);
  }
  if (!starts && !running_) return "no run is active; start begins one";
  if (begin_ || (busy_ && !(starts && stopping_))) {
    return "the last request is still being served: ask again when /status says that the state is running or idle";
  }
  if (request.number && *request.number <= last_) {
    return fmt::format("number {} is taken or below {}, the highest so far: numbers never repeat", *request.number,
                       last_);
  }
  if (last_ >= kHighestRun || request.number.value_or(0) > kHighestRun) {
    return fmt::format("numbers of runs are at most {}", kHighestRun);
  }
  return {};
}

std::string RunDesk::ask(RunRequest request) {
  const std::lock_guard lock(mutex_);
  auto refused = refusal(request);
  if (!refused.empty()) return refused;
  stopping_ = stopping_ || request.what == RunRequest::What::stop_run;
  if (request.what != RunRequest::What::stop_run) begin_ = request;
  if (request.what != RunRequest::What::start) {
    end_ = std::move(request);
    busy_ = true;
  }
  return {};
}

void RunDesk::wait(std::uint64_t last) {
  const std::lock_guard lock(mutex_);
  running_ = busy_ = stopping_ = false;
  last_ = last;
  end_.reset();
}

void RunDesk::begin(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  running_ = true;
  busy_ = stopping_ = false;
  last_ = number;
  end_.reset();
  ended_by_.clear();
}

std::optional<RunRequest> RunDesk::take_end() {
  const std::lock_guard lock(mutex_);
  if (end_) ended_by_ = end_->from;
  return std::exchange(end_, std::nullopt);
}

std::optional<RunRequest> RunDesk::take_begin() {
  const std::lock_guard lock(mutex_);
  busy_ = busy_ || begin_.has_value();
  return std::exchange(begin_, std::nullopt);
}

std::string RunDesk::ended_by() const {
  const std::lock_guard lock(mutex_);
  return ended_by_;
}

std::string RunDesk::run() const {
  const std::lock_guard lock(mutex_);
  return running_ ? fmt::format("run {}", last_) : "";
}

}  // namespace eventloom
