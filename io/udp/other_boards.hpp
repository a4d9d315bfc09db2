#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "core/runtime/metrics.hpp"
#include "formats/datagram.hpp"

namespace eventloom {

/// Counts the data of boards that are not in the run: if the URI of a port names no boards, only the first heard is
/// received. The receiving thread calls take(); any thread may call the other functions.
class OtherBoards {
 public:
  /// Most boards that are tracked; datagrams of further ones are counted, but not their hits.
  static constexpr std::size_t kMost = 64;

  /// Returns true for the first datagram of a board.
  bool take(const Datagram& datagram);

  [[nodiscard]] std::uint64_t boards() const;
  [[nodiscard]] Counters counters() const;
  /// A remark for the end of a run that received only board `first`: the other boards and how to receive all. Empty if
  /// there are none.
  [[nodiscard]] std::string remark(std::uint32_t first) const;

 private:
  /// Hits of one board, by the board's own counts.
  struct Board {
    std::uint32_t session = 0;
    std::uint64_t before = 0;  ///< count when the session was first heard
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
