#include "io/live/live_return.hpp"

#include <algorithm>
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

/// The first number that is not finished; std::nullopt if that is not known.
std::optional<Tick> first_unfinished(const LivePast& past, std::uint32_t epoch_ticks) {
  if (past.none_finished) return past.place ? past.place->first : std::nullopt;
  const Tick end = tick_of_epoch(past.end, epoch_ticks);
  const bool was_last = past.place && past.place->next && past.end <= past.place->end;
  return was_last ? std::min(end, *past.place->next) : end;
}

/// Counts missing numbers from the end of the finished slices, which are complete unless the run was stopped in the
/// last one, or from the first number of the run. A restarted server may or may not send events again that were already
/// built.
LiveReturn::Missed missed_numbers(const LivePast& past, const LiveReturn::First& first) {
  const auto begin = first_unfinished(past, first.epoch_ticks);
  if (!begin) return unknown("its first event number in the run was not kept");
  if (first.time < *begin) return unknown("its event numbers begin before those that are finished or lost");
  LiveReturn::Missed missed;
  const Epoch earlier = past.none_finished ? Epoch(0) : past.epochs_missing;
  missed.numbers = (first.time - *begin + tick_of_epoch(earlier, first.epoch_ticks)).value;
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
  awaits_first_ = false;
  const auto past = std::exchange(past_, std::nullopt);
  if (past && past->place) {
    place_.first = past->place->first;
    place_.next = past->place->next;
    place_.end = past->place->end;
  } else if (first.numbered) {
    place_.first = first.time;
  }
  if (!past) return {};
  auto missed = missed_since(*past, first);
  // No part may have kept what the earlier invocation reported.
  if (past->place && past->place->unknown && !missed.unknown) {
    missed.unknown = true;
    missed.text += missed.text.empty() ? "" : "; ";
    missed.text += "an unknown amount of data that it sent during an earlier interruption is lost";
  }
  place_.unknown = missed.unknown;
  return missed;
}

LiveReturn::Missed LiveReturn::end() {
  if (!std::exchange(past_, std::nullopt)) return {};
  return unknown("it has sent nothing since");
}

LiveReturn::Missed LiveReturn::missed_since(const LivePast& past, const First& first) {
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

void LiveReturn::note_stop(Tick next, Epoch end) {
  if (!keep_ || past_) return;
  place_.next = next;
  place_.end = end;
  kept_ = place_;
  keep_(place_);
}

void LiveReturn::note_place(const std::optional<PeerCount>& sent, std::uint64_t hits) {
  if (!keep_ || past_) return;
  if (sent) {
    place_.session = sent->session;
    place_.base = static_cast<std::int64_t>(sent->hits) - static_cast<std::int64_t>(earlier_hits_ + hits);
  }
  const bool known = sent || place_.first || place_.unknown;
  if (!known || kept_ == place_) return;
  kept_ = place_;
  keep_(place_);
}

}  // namespace eventloom
