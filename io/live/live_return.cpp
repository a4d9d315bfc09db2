#include "io/live/live_return.hpp"

#include <utility>

#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

LiveReturn::Missed unknown(const char* why) {
  return {.unknown = true,
          .text = fmt::format("an unknown amount of data that it sent while the run was interrupted is lost: {}", why)};
}

std::string text_of_missed(std::uint64_t n, const char* what) {
  return fmt::format(
      "{} {}: those that it sent while the run was interrupted, and those received and not yet finished then", n, what);
}

/// Counts missing numbers from the end of the finished slices, which are complete. A restarted server may or may not
/// send events again that were already built.
LiveReturn::Missed missed_numbers(const LivePast& past, const LiveReturn::First& first) {
  if (first.epoch < past.end) return unknown("its event numbers begin before those that are finished");
  LiveReturn::Missed missed;
  const Tick since_end = first.time - tick_of_epoch(past.end, first.epoch_ticks);
  missed.numbers = (since_end + tick_of_epoch(past.epochs_missing, first.epoch_ticks)).value;
  if (missed.numbers == 0) return missed;
  missed.text = text_of_missed(missed.numbers, "event numbers are missing");
  return missed;
}

}  // namespace

void LiveReturn::resume_after(const LivePast& past) {
  past_ = past;
  earlier_hits_ = past.hits;
}

LiveReturn::Missed LiveReturn::join(const First& first) {
  const auto past = *std::exchange(past_, std::nullopt);
  if (first.counts) return missed_hits(past, first);
  if (first.numbered) return missed_numbers(past, first);
  return unknown("it does not number what it sends, or its numbers start again");
}

LiveReturn::Missed LiveReturn::missed_hits(const LivePast& past, const First& first) {
  if (!past.place) {
    // A new sender, received from its first hit.
    const bool whole = past.hits == 0 && first.joined && first.joined->base == 0;
    return whole ? Missed{} : unknown("how far it had got before was not kept");
  }
  if (!first.joined || first.joined->session != past.place->session) return unknown("its sender has restarted since");
  const auto expected = past.place->base + static_cast<std::int64_t>(past.hits);
  if (first.joined->base < expected) return unknown("its count of hits has gone back");
  continues_ = true;
  Missed missed;
  missed.hits = static_cast<std::uint64_t>(first.joined->base - expected);
  if (missed.hits == 0) return missed;
  missed.text = text_of_missed(missed.hits, "hits are lost, by its own count");
  return missed;
}

void LiveReturn::note_place(const std::optional<PeerCount>& sent, std::uint64_t hits) {
  if (!keep_ || !sent || past_) return;
  const auto ours = static_cast<std::int64_t>(earlier_hits_ + hits);
  const PeerPlace place{sent->session, static_cast<std::int64_t>(sent->hits) - ours};
  if (kept_ == place) return;
  kept_ = place;
  keep_(place);
}

}  // namespace eventloom
