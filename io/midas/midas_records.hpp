#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/files/defect_log.hpp"
#include "io/midas/midas_file.hpp"
#include "io/packed/record_hits.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Banks that hold records of fixed size, a hit each: the keys `bank`, `record` and `skip`, and those of RecordFormat.
/// The records hold times if `time` is a field, TYPE@OFFSET; otherwise their time is that of the event.
class MidasRecords {
 public:
  /// std::nullopt if the URI has none of these keys. Throws UserError when one is invalid, or lacks another.
  static std::optional<MidasRecords> of(const SourceUri& uri, std::uint64_t tick_ps);
  /// Whether the key `time` names a field of the records.
  static bool hold_times(const SourceUri& uri);

  /// Appends the hits of the event's banks, which get `time` unless the records hold times. Bytes at the end of a bank
  /// that are not a record are reported and count as a lost hit.
  void append(const MidasEvent& event, Tick time, DefectLog& defect_log, HitBlock& block);

  [[nodiscard]] const RecordFormat& format() const { return records_.format(); }
  /// A description for the header of the stream.
  [[nodiscard]] std::string description() const;
  /// Number of records in the event.
  [[nodiscard]] std::size_t count(const MidasEvent& event) const;
  [[nodiscard]] ClockTurns* counter() { return records_.counter(); }
  [[nodiscard]] Counters counters() const { return records_.counters(); }
  void sum_up() const { records_.sum_up(); }

 private:
  MidasRecords(const SourceUri& uri, const std::string& bank, std::uint64_t tick_ps);

  std::string bank_;
  std::uint32_t name_;
  std::uint64_t skip_;  ///< bytes of the bank before its first record
  RecordHits records_;
  HitBlock hits_;  ///< hits of a bank
};

}  // namespace eventloom
