#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/message_limit.hpp"
#include "core/runtime/metrics.hpp"
#include "io/packed/packed_clock.hpp"
#include "io/packed/record_format.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Decodes records to hits. A record whose channel, time or payload does not fit is reported and becomes a loss of one
/// hit.
class RecordHits {
 public:
  /// `name`: the input, for messages. Throws UserError when a key of the clock is invalid.
  RecordHits(const SourceUri& uri, RecordFormat format, std::string name, std::uint64_t tick_ps);

  /// Replaces the contents of `block` by the hits of `n` consecutive records. `offset`: position of the first one in
  /// the file, bytes. `time`: of all hits, if the records hold none. Throws UserError when a time must be rounded and
  /// may not be.
  void read(const std::byte* records, std::size_t n, std::uint64_t offset, Tick time, HitBlock& block);

  [[nodiscard]] const RecordFormat& format() const { return format_; }
  /// Whether times are event numbers.
  [[nodiscard]] bool numbered() const { return clock_ && clock_->numbered(); }
  /// The counter of the times; std::nullopt if the records hold none.
  [[nodiscard]] std::optional<RawClock> raw_clock() const {
    return clock_ ? std::optional(clock_->raw_clock()) : std::nullopt;
  }
  /// Counts `records`, `bad_records`, `imprecise_times` and `clock_turns`.
  [[nodiscard]] Counters counters() const;
  /// Reports the number of bad records if not all have been reported.
  void sum_up() const;

 private:
  [[nodiscard]] bool put_channels(const std::byte* records, HitBlock& block);
  [[nodiscard]] bool join(const PackedField& field, const std::byte* records, unsigned shift);
  [[nodiscard]] bool put_payload(const std::byte* records, HitBlock& block);
  [[nodiscard]] bool put_words(const PackedField& field, const std::byte* records, std::uint32_t* out);
  void keep_good(bool times_converted, HitBlock& block);
  void check_precision(std::uint64_t number, std::uint64_t offset);
  void lose(std::size_t before, std::uint64_t offset, const char* what, HitBlock& block);

  RecordFormat format_;
  std::string name_;
  std::optional<PackedClock> clock_;  ///< std::nullopt: the records hold no times
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> channels_;  ///< unchecked channels of a block's records
  std::vector<std::uint64_t> systems_;
  std::vector<std::uint64_t> numbers_;  ///< values of a payload field
  std::vector<bool> misfits_;           ///< records whose payload does not fit; empty: none
  std::uint64_t records_ = 0;
  MessageLimit bad_;
  MessageLimit imprecise_{1};  ///< hits with an imprecise time
};

}  // namespace eventloom
