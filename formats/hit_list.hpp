#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

/// Hits that are not list-mode data, as data of a subevent in the LMD and HLD files that Eventloom writes. 32-bit
/// words, little-endian; 64-bit numbers have their low word first:
///
///   0     version of this layout, 1
///   1     number of hits
///   2, 3  picoseconds of a tick; 0 if times are event numbers
///   4     hits, in the order of the event, each:
///           0, 1  time in ticks
///           2     number of its source in the run
///           3     channel
///           4     n, number of payload words
///           5     the payload, n words
///
/// Such a subevent has type 10/1 (LMD) or decoding 0x00020011 (HLD), and kHitListId as its procid or id.
namespace eventloom {

inline constexpr std::uint32_t kHitListVersion = 1;
inline constexpr std::uint16_t kHitListId = 0x4c45;  ///< bytes "EL"

class HitList {
 public:
  /// `tick_ps`: 0 if times are event numbers.
  explicit HitList(std::uint64_t tick_ps) : words_{kHitListVersion, 0} { append(tick_ps); }

  void clear() {
    words_.resize(kHead);
    words_[1] = 0;
  }
  [[nodiscard]] bool empty() const { return words_[1] == 0; }

  void add(Tick time, std::uint16_t source, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    ++words_[1];
    append(time.value);
    words_.insert(words_.end(), {source, channel, static_cast<std::uint32_t>(payload.size())});
    words_.insert(words_.end(), payload.begin(), payload.end());
  }

  [[nodiscard]] std::span<const std::uint32_t> words() const { return words_; }

 private:
  static constexpr std::size_t kHead = 4;

  void append(std::uint64_t number) {
    words_.push_back(static_cast<std::uint32_t>(number));
    words_.push_back(static_cast<std::uint32_t>(number >> 32));
  }

  std::vector<std::uint32_t> words_;
};

}  // namespace eventloom
