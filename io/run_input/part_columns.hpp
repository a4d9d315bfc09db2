#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/ids.hpp"
#include "io/run_format/layout.hpp"
#include "io/run_input/open_output.hpp"

namespace eventloom {

/// Reads /events, /hits and /payload of a part or a merged file side by side. Their numbers of rows are consistent.
struct PartColumns {
  /// `buffer`: bytes per column.
  PartColumns(OpenOutput opened, std::uint64_t n_events, std::uint64_t n_hits, bool with_payload, std::size_t buffer);

  /// See PartCursor: events are rows, their times the keys. Throws UserError if hits or payload words remain after the
  /// last event.
  [[nodiscard]] bool done() const;
  Tick key() { return events[kEventTime].peek<Tick>().front(); }
  /// Throws a UserError that names the file unless `holds`.
  void expect(bool holds, const char* otherwise) const;

  OpenOutput open;
  std::vector<ColumnCursor> events;  ///< indexed by EventColumn
  std::vector<ColumnCursor> hits;    ///< indexed by HitColumn
  std::optional<ColumnCursor> first_payload;
  std::optional<ColumnCursor> payload;
  std::optional<ColumnCursor> value;  ///< if the file has values
  std::uint64_t first_word = 0;       ///< first payload word of the next hit
};

}  // namespace eventloom
