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

/// /events, /hits and /payload of a part or a merged file, side by side from front to back; each has as many rows as it
/// must.
struct PartColumns {
  /// `buffer`: bytes of each column.
  PartColumns(OpenOutput opened, std::uint64_t n_events, std::uint64_t n_hits, bool with_payload, std::size_t buffer);

  /// See PartCursor: the events are rows, their times the keys. Throws UserError when hits or payload words are left
  /// behind the last event.
  [[nodiscard]] bool done() const;
  Tick key() { return events[kEventTime].peek<Tick>().front(); }
  /// Throws UserError that names the file unless this holds.
  void expect(bool holds, const char* otherwise) const;

  OpenOutput open;
  std::vector<ColumnCursor> events;  ///< by EventColumn
  std::vector<ColumnCursor> hits;    ///< by HitColumn
  std::optional<ColumnCursor> first_payload;
  std::optional<ColumnCursor> payload;
  std::uint64_t first_word = 0;  ///< of the next hit
};

}  // namespace eventloom
