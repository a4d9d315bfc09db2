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

namespace eventloom {

/// Which FPGAs are TDCs: addresses and ranges as in "0xe000-0xe00f,0xe100"; without a list they are recognised by their
/// words.
class TdcAddresses {
 public:
  TdcAddresses() = default;
  /// `list` as above; empty or "yes" stands for no list. Throws std::invalid_argument with the reason.
  explicit TdcAddresses(std::string_view list);

  /// Whether the words after `head` come from a TDC. Without a list: when they are a header followed by nothing but
  /// epochs, times and debug words, with or without a trailer. The data of a trigger system may begin like a header,
  /// too, yet hold counters of all kinds. An address whose header and epoch were once followed by a time remains a TDC.
  bool is_tdc(TrbHead head, std::span<const std::uint32_t> words);

 private:
  bool listed_ = false;
  std::vector<bool> known_ = std::vector<bool>(std::size_t{1} << 16, false);  ///< by address
};

struct TdcHit {
  std::uint32_t address = 0;  ///< of the TDC
  std::uint32_t word = 0;     ///< as in the file
  std::uint32_t epoch = 0;    ///< its counter, 28 bits
  std::uint32_t place = 0;    ///< number of the word in the subevent
};

/// A defect of a subevent.
struct TdcFault {
  enum class Kind {
    cut,           ///< more words are announced than present
    no_epoch,      ///< a time without an epoch before it
    late,          ///< a time that does not fit 64 bits
    unknown_word,  ///< in a TDC
  };
  Kind kind = Kind::cut;
  std::uint32_t address = 0;
  std::uint32_t place = 0;      ///< number of the word in the subevent
  std::uint32_t hits = 0;       ///< lost, as far as known
  std::uint32_t count = 1;      ///< of such places, this being the first
  std::size_t hits_before = 0;  ///< of the subevent

  [[nodiscard]] std::string text() const;
};

/// Extracts the times from subevents of TRB3 boards.
class TrbTdcDecoder {
 public:
  explicit TrbTdcDecoder(TdcAddresses addresses) : addresses_(std::move(addresses)) {}

  /// Decodes the data of one subevent: `words` in native order.
  void decode(std::span<const std::uint32_t> words);
  /// Of the last subevent.
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

/// Converts epochs and coarse times of TDCs to ticks. The epoch counter, 28 bits, is unwrapped to the value nearest to
/// the previous one.
class TdcClock {
 public:
  /// Throws std::invalid_argument when a step of the coarse time is not a whole number of ticks.
  explicit TdcClock(std::uint64_t tick_ps);

  /// Nothing when the time is too large for 64 bits.
  std::optional<Tick> ticks(const TdcHit& hit);

 private:
  std::uint64_t factor_;  ///< ticks in a step of the coarse time
  std::optional<std::uint64_t> epoch_;
};

}  // namespace eventloom
