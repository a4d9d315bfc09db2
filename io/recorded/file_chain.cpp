#include "io/recorded/file_chain.hpp"

#include "core/runtime/error.hpp"
#include "io/recorded/clock_turns.hpp"

namespace eventloom {

void FileChain::require_same_kind(HitReader& reader, const std::string& path) const {
  const auto& header = reader.header();
  if (header.payload != header_.payload || header.flags != header_.flags ||
      header.payload_names != header_.payload_names) {
    throw UserError("'" + path + "' has other columns than the files before it, or other kinds of payload: " +
                    "payload=NAME:f64 states a kind");
  }
  if (reader.counter() == nullptr || reader_->counter() == nullptr) return;
  const auto clock = reader.raw_clock().value_or(RawClock{});
  const auto before = reader_->raw_clock().value_or(RawClock{});
  if (clock.ticks == before.ticks) return;
  throw UserError("'" + path + "' counts in units of " + clock.unit + ", the files before it in units of " +
                  before.unit + ": turns of one do not continue in the other, so join files of one unit only");
}

void FileChain::go_on(std::unique_ptr<HitReader> next, const std::string& path) {
  require_same_kind(*next, path);
  counters_before_.add(reader_->counts().counters);
  anomalies_before_ += reader_->anomalies();
  auto* const before = reader_->counter();
  if (auto* const counter = next->counter(); counter != nullptr && before != nullptr) counter->go_on_after(*before);
  reader_ = std::move(next);
}

void FileChain::leave_holes(HitBlock& block) {
  for (auto& loss : block.losses) {
    if (!loss.breaks_off) continue;
    loss.breaks_off = false;
    loss.leaves_hole = true;
  }
}

SourceCounts FileChain::counts() const {
  auto counts = reader_->counts();
  counts.counters.add(counters_before_);
  return counts;
}

}  // namespace eventloom
