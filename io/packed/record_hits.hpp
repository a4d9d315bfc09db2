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
#include "io/recorded/clocks_by_channel.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Decodes records to hits. A record whose channel, time or payload does not fit, or whose number in a field of `where`
/// is NaN, is reported and becomes a loss of one hit.
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
  [[nodiscard]] bool numbered() const { return clocks_ && clocks_->first().numbered(); }
  /// Null if the records hold no times of a counter that turns.
  [[nodiscard]] ClockTurns* counter() { return clocks_ ? clocks_->first().turns().if_any() : nullptr; }
  /// The counter of the times; std::nullopt if the records hold none.
  [[nodiscard]] std::optional<RawClock> raw_clock() const {
    return clocks_ ? std::optional(clocks_->first().raw_clock()) : std::nullopt;
  }
  /// Counts `records`, `bad_records`, `imprecise_times` and `clock_turns`.
  [[nodiscard]] Counters counters() const;
  /// Reports the number of bad records if not all have been reported.
  void sum_up() const;

 private:
  [[nodiscard]] bool choose(const std::byte* records, std::size_t n);
  enum class Truth : std::uint8_t { no, yes, unknown };
  void evaluate(const std::vector<RecordCondition>& condition, const std::byte* records, std::vector<Truth>& truths);
  [[nodiscard]] bool put_channels(const std::byte* records, HitBlock& block);
  void look_up_channels();
  [[nodiscard]] std::string defect(const std::byte* records, std::size_t i, bool timed, const HitBlock& block);
  [[nodiscard]] bool join(const PackedField& field, const std::byte* records, unsigned shift);
  [[nodiscard]] bool put_payload(const std::byte* records, HitBlock& block);
  [[nodiscard]] bool put_words(const PackedField& field, const std::byte* records, std::uint32_t* out);
  [[nodiscard]] std::string channel_defect(const std::byte* record) const;
  void keep_good(const std::byte* records, bool times_converted, HitBlock& block);
  bool makes_no_hit(std::size_t i, std::size_t kept, HitBlock& block);
  [[nodiscard]] std::optional<Tick> converted(std::size_t i, const HitBlock& block);
  void lose(std::size_t before, std::uint64_t offset, const std::string& what, HitBlock& block);

  RecordFormat format_;
  std::string name_;
  std::optional<ClocksByChannel<PackedClock>> clocks_;  ///< std::nullopt: the records hold no times
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> channels_;  ///< unchecked channels of a block's records
  std::vector<std::uint64_t> systems_;
  std::vector<std::uint64_t> numbers_;  ///< values of a payload field
  /// Use of a record, by the keys `where` and `overflow`.
  enum class Choice : std::uint8_t { kept, left_out, marks_turn, unknown };
  std::vector<Choice> choices_;  ///< empty: all make hits
  std::vector<Truth> truths_;
  std::vector<bool> misfits_;  ///< records whose payload does not fit; empty: none
  std::uint64_t records_ = 0;
  MessageLimit bad_;
  MessageLimit imprecise_{1};  ///< hits with an imprecise time
};

}  // namespace eventloom
