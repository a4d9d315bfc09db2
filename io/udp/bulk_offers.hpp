#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace eventloom {

/// When a transfer offers its file to the board: at first, and again whenever nothing has gone back and forth for a
/// while. Times are in ns of any monotonic clock.
class BulkOffers {
 public:
  /// Times between two offers without an answer: the first, doubled up to the last.
  static constexpr std::int64_t kFirstPoll_ns = 20'000'000;
  static constexpr std::int64_t kLastPoll_ns = 500'000'000;

  /// `heard_ns`: when the board last answered.
  [[nodiscard]] bool is_due(std::int64_t now_ns, std::int64_t heard_ns) const {
    return !offered_ns_ || now_ns - std::max(heard_ns, *offered_ns_) >= poll_ns_;
  }
  /// Notes an offer, and returns its number, from 1.
  std::uint32_t next(std::int64_t now_ns) {
    if (offered_ns_) poll_ns_ = std::min(2 * poll_ns_, kLastPoll_ns);
    offered_ns_ = now_ns;
    return ++number_;
  }
  /// The board has answered: the next offer waits for `least_ns`, or for the first of the times.
  void note_answer(std::int64_t least_ns) { poll_ns_ = std::max(kFirstPoll_ns, least_ns); }

  /// The number of the last offer; 0: there was none.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// When the last offer was made.
  [[nodiscard]] std::optional<std::int64_t> offered_ns() const { return offered_ns_; }

 private:
  std::optional<std::int64_t> offered_ns_;
  std::uint32_t number_ = 0;
  std::int64_t poll_ns_ = kFirstPoll_ns;
};

}  // namespace eventloom
