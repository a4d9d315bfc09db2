#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/datagram_reply.hpp"

namespace eventloom {

/// Decides which missing pieces are requested, or sent again, and when. Independent of sockets and clocks.
class ResendRequests {
 public:
  /// A piece must have been missing for this long: reordered datagrams arrive soon.
  static constexpr std::int64_t kPatience_ns = 1'000'000;
  /// Time until a piece is requested again.
  static constexpr std::int64_t kAgain_ns = 8'000'000;
  /// Shortest time between two requests.
  static constexpr std::int64_t kPause_ns = 1'000'000;

  explicit ResendRequests(std::int64_t patience_ns = kPatience_ns) : patience_ns_(patience_ns) {}

  /// Whether a call of due() can return anything.
  [[nodiscard]] bool may_ask(std::int64_t now_ns) const { return now_ns - last_ns_ >= kPause_ns; }
  /// The pieces to be requested now, at most `most`, and again after `again_ns`. `missing`: all that are missing,
  /// ascending.
  std::vector<MissingPiece> due(std::span<const MissingPiece> missing, std::int64_t now_ns, std::size_t most,
                                std::int64_t again_ns = kAgain_ns);
  /// Whether a piece that has been requested, and was missing at the last due(), contains this byte of a buffer.
  [[nodiscard]] bool has_asked(std::uint64_t sequence, std::uint32_t offset) const;

 private:
  struct Asked {
    MissingPiece piece;
    std::int64_t seen_ns = 0;
    std::int64_t asked_ns = 0;
    bool asked = false;
  };
  std::int64_t patience_ns_;
  std::vector<Asked> asked_;  ///< pieces that were missing at the last due(), ascending
  std::int64_t last_ns_ = 0;
};

}  // namespace eventloom
