#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "core/runtime/metrics.hpp"
#include "formats/datagram.hpp"

namespace eventloom {

/// Boards that send to a port whose URI names none, besides the first heard: they are not in the run, and what they
/// send is counted here. The receiving thread adds, any thread asks.
class OtherBoards {
 public:
  /// More senders than a port has are counted by their datagrams only.
  static constexpr std::size_t kMost = 64;

  /// True for the first datagram of a board.
  bool take(const Datagram& datagram);

  [[nodiscard]] std::uint64_t boards() const;
  [[nodiscard]] Counters counters() const;
  /// For the end of a run in which only board `first` was: which others there were, and how to have all; empty without
  /// others.
  [[nodiscard]] std::string remark(std::uint32_t first) const;

 private:
  /// By the board's own count, in one session.
  struct Board {
    std::uint32_t session = 0;
    std::uint64_t before = 0;  ///< when it was first heard
    std::uint64_t now = 0;
    bool counted = false;
    std::uint64_t hits_of_earlier_sessions = 0;
    [[nodiscard]] std::uint64_t hits() const { return hits_of_earlier_sessions + now - before; }
  };
  static void count(Board& board, std::uint64_t before, std::uint64_t now);
  [[nodiscard]] std::uint64_t hits() const;

  mutable std::mutex mutex_;
  std::map<std::uint32_t, Board> boards_;
};

}  // namespace eventloom
