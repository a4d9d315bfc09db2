#include "tests/support/rank_threads.hpp"

#include <atomic>
#include <barrier>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace eventloom {

namespace {

/// State that the ranks share.
struct Meeting {
  explicit Meeting(int n) : all_here(n), said(static_cast<std::size_t>(n)) {}

  void wait() {
    all_here.arrive_and_wait();
    check();
  }
  void check() const {
    if (left) throw std::runtime_error("a rank is gone");
  }

  std::barrier<> all_here;
  std::vector<std::span<const std::byte>> said;  ///< by rank, between two barriers
  std::atomic<bool> left = false;                ///< a rank has left with an exception
  std::exception_ptr error;                      ///< of the first
  std::atomic<int> at_barriers = 0;              ///< barriers begun by all ranks together
};

class ThreadBarrier final : public PendingBarrier {
 public:
  ThreadBarrier(const Meeting& meeting, int needed) : meeting_(meeting), needed_(needed) {}
  bool done() override {
    meeting_.check();
    return meeting_.at_barriers >= needed_;
  }

 private:
  const Meeting& meeting_;
  int needed_;
};

class ThreadRank final : public Collective {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(meeting_.said.size()); }

  [[nodiscard]] std::unique_ptr<PendingBarrier> barrier() const override {
    ++meeting_.at_barriers;
    return std::make_unique<ThreadBarrier>(meeting_, ++barriers_ * size());
  }

 private:
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                    std::span<std::byte> all) const override {
    say(mine);
    std::size_t at = 0;
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      copy(meeting_.said[r], all.subspan(at, bytes[r]));
      at += bytes[r];
    }
    meeting_.wait();
  }

  void broadcast_bytes(std::span<std::byte> data) const override {
    say(data);
    if (rank_ != 0) copy(meeting_.said[0], data);
    meeting_.wait();
  }

  void say(std::span<const std::byte> mine) const {
    meeting_.said[static_cast<std::size_t>(rank_)] = mine;
    meeting_.wait();
  }

  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.size() != to.size()) throw std::logic_error("a rank sends another number of bytes than the others expect");
    if (!to.empty()) std::memcpy(to.data(), from.data(), to.size());
  }

  Meeting& meeting_;
  int rank_;
  mutable int barriers_ = 0;
};

void run_one(Meeting& meeting, int rank, const std::function<void(const Collective&)>& work) {
  try {
    work(ThreadRank(meeting, rank));
  } catch (...) {
    if (!meeting.left.exchange(true)) meeting.error = std::current_exception();
    meeting.all_here.arrive_and_drop();
  }
}

}  // namespace

void run_as_ranks(int n, const std::function<void(const Collective& ranks)>& work) {
  Meeting meeting(n);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < n; ++rank)
      threads.emplace_back([&meeting, rank, &work] { run_one(meeting, rank, work); });
  }
  if (meeting.error) std::rethrow_exception(meeting.error);
}

}  // namespace eventloom
