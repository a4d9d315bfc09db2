#include "io/run_input/part_columns.hpp"

#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

PartColumns::PartColumns(OpenOutput opened, std::uint64_t n_events, std::uint64_t n_hits, bool with_payload,
                         std::size_t buffer)
    : open(std::move(opened)),
      events(open.columns_of(event_columns(), n_events, buffer)),
      hits(open.columns_of(hit_columns(), n_hits, buffer)) {
  if (open.has(value_column())) value.emplace(open.column_of(value_column(), n_hits, buffer));
  if (!with_payload) return;
  first_payload.emplace(open.column_of(first_payload_column(), n_hits + 1, buffer));
  payload.emplace(open.column(payload_column(), buffer));
  first_word = first_payload->next<std::uint64_t>();
}

bool PartColumns::done() const {
  if (events[kEventTime].rows_left() > 0) return false;
  expect(hits[kHitTime].rows_left() == 0, "hits that belong to no event");
  expect(!payload || payload->rows_left() == 0, "payload that belongs to no hit");
  return true;
}

void PartColumns::expect(bool holds, const char* otherwise) const {
  if (!holds) throw UserError(fmt::format("'{}' is damaged: {}", open.name, otherwise));
}

}  // namespace eventloom
