#include "io/live/live_account.hpp"

namespace eventloom {

void LiveAccount::lose(const Damage& damage) {
  hits_ += damage.n_hits;
  if (damage.cause == DropCause::congested) dead_epochs_ += damage.n_epochs;
}

void LiveAccount::leave(std::uint64_t hits, const std::vector<Damage>& losses) {
  hits_ -= hits;
  for (const auto& lost : losses) dropped_[static_cast<std::size_t>(lost.cause)] -= lost.n_hits;
}

void LiveAccount::restart() {
  hits_ = 0;
  dead_epochs_ = 0;
  dropped_ = {};
}

void LiveAccount::add_to(Counters& counters, const StreamHeader& header, std::uint64_t beyond) const {
  counters.add(counters_);
  counters.keep({{Metric::source_hits_in, hits_ - beyond}, {Metric::hits_after_the_end, beyond}});
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    if (dropped_[i] != 0) counters[source_dropped_hits(static_cast<DropCause>(i))] = dropped_[i];
  }
  if ((header.flags & kNumbered) != 0) return;
  const double epoch_ns = static_cast<double>(header.base.tick_ps) * header.base.epoch_ticks / 1000;
  counters.keep({{Metric::dead_time_ns, static_cast<std::uint64_t>(static_cast<double>(dead_epochs_) * epoch_ns)}});
}

}  // namespace eventloom
