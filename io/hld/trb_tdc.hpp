#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/hld.hpp"
#include "formats/ids.hpp"
#include "io/recorded/clock_turns.hpp"

namespace eventloom {

/// Decides which FPGAs are TDCs, by a list of addresses and ranges such as "0xe000-0xe00f,0xe100". Without a list, TDCs
/// are recognised by their words.
class TdcAddresses {
 public:
  TdcAddresses() = default;
  /// An empty `list` or "yes" means no list. Throws std::invalid_argument with the reason.
  explicit TdcAddresses(std::string_view list);

  /// Whether the words after `head` come from a TDC. Without a list, they must be a header followed only by epochs,
  /// times and debug words, with or without a trailer: data of a trigger system may also begin like a header, but hold
  /// arbitrary counters. An address that once sent header, epoch and time in this order counts as a TDC from then on.
  bool is_tdc(TrbHead head, std::span<const std::uint32_t> words);

 private:
  bool listed_ = false;
  std::vector<bool> known_ = std::vector<bool>(std::size_t{1} << 16, false);  ///< indexed by address
};

struct TdcHit {
  std::uint32_t address = 0;  ///< TDC address
  std::uint32_t word = 0;     ///< time word as in the file
  std::uint32_t epoch = 0;    ///< epoch counter, 28 bits
  std::uint32_t place = 0;    ///< index of the word in the subevent
};

/// A defect of a subevent.
struct TdcFault {
  enum class Kind {
    cut,           ///< more words are announced than present
    no_epoch,      ///< a time without a preceding epoch
    late,          ///< a time that does not fit in 64 bits
    unknown_word,  ///< an unknown word in the data of a TDC
  };
  Kind kind = Kind::cut;
  std::uint32_t address = 0;
  std::uint32_t place = 0;      ///< index of the word in the subevent
  std::uint32_t hits = 0;       ///< known number of lost hits
  std::uint32_t count = 1;      ///< number of such defects; this is the first
  std::size_t hits_before = 0;  ///< number of earlier hits in the subevent

  [[nodiscard]] std::string text() const;
};

/// Extracts the times from subevents of TRB3 boards.
class TrbTdcDecoder {
 public:
  explicit TrbTdcDecoder(TdcAddresses addresses) : addresses_(std::move(addresses)) {}

  /// Decodes the data of one subevent; `words` are in native order.
  void decode(std::span<const std::uint32_t> words);
  /// Hits of the last subevent.
  [[nodiscard]] std::span<const TdcHit> hits() const { return hits_; }
  [[nodiscard]] std::span<const TdcFault> faults() const { return faults_; }

 private:
  void decode_tdc(std::uint32_t address, std::span<const std::uint32_t> words, std::uint32_t first);
  void cut(TrbHead head, std::span<const std::uint32_t> words, std::uint32_t first);
  void add_fault(TdcFault::Kind kind, std::uint32_t address, std::uint32_t place, std::uint32_t hits);

  TdcAddresses addresses_;
  std::vector<TdcHit> hits_;
  std::vector<TdcFault> faults_;
};

/// Converts epochs and coarse times of TDCs to ticks. The 28-bit epoch counter is unwrapped to the value nearest to the
/// previous one.
class TdcClock {
 public:
  /// Throws std::invalid_argument when the coarse time's step is not a whole number of ticks.
  /// `first_turn`: the turn of the epoch counter in which the first time lies.
  explicit TdcClock(std::uint64_t tick_ps, std::uint64_t first_turn = 0);

  /// std::nullopt when the time does not fit in 64 bits.
  std::optional<Tick> ticks(const TdcHit& hit);
  [[nodiscard]] ClockTurns& turns() { return epochs_; }
  [[nodiscard]] const ClockTurns& turns() const { return epochs_; }

 private:
  std::uint64_t factor_;  ///< ticks in a step of the coarse time
  ClockTurns epochs_;
};

}  // namespace eventloom
