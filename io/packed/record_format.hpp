#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/stream_file.hpp"
#include "io/packed/field.hpp"
#include "io/packed/time_field.hpp"
#include "io/recorded/channel_ids.hpp"
#include "io/recorded/row_condition.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A term of the key `where` or `overflow`, and its field.
struct RecordCondition {
  PackedField field;
  RowTerm term;
};

/// Layout of records of fixed size, a hit each, by the keys `record`, `time`, `channel` or `fixed-channel`, `channels`,
/// `system`, `subsystem`, `payload` and `where`; see packed_reader.hpp.
struct RecordFormat {
  static constexpr unsigned kSystemShift = 22;
  static constexpr unsigned kSubsystemShift = 16;
  static constexpr unsigned kChannelBits = 28;

  /// `timed`: the records hold times, and the key `time` must say where. Throws UserError when a key is invalid or
  /// missing.
  explicit RecordFormat(const SourceUri& uri, bool timed = true);

  std::size_t bytes;                           ///< size of a record
  std::optional<TimeField> time;               ///< std::nullopt: not timed
  std::optional<std::uint32_t> fixed_channel;  ///< std::nullopt: see `channel`
  std::optional<PackedField> channel;
  ChannelIds channels;  ///< converts the numbers in `channel`
  std::optional<PackedField> system;
  std::optional<PackedField> subsystem;
  unsigned channel_bits;  ///< maximum width of `channel`
  std::vector<PackedField> payload;
  std::vector<PayloadColumn> columns;
  std::size_t payload_words = 0;
  std::vector<RecordCondition> where;     ///< records for which one does not hold are left out
  std::vector<RecordCondition> overflow;  ///< records for which all hold mark turns; empty: none does

 private:
  void read_payload(const SourceUri& uri);
  [[nodiscard]] std::vector<RecordCondition> condition_in(const SourceUri& uri, const std::string& key,
                                                          std::vector<RowTerm> terms) const;
};

/// Number of payload words that a field yields.
std::size_t payload_words_of(const PackedField& field);

}  // namespace eventloom
