#include "formats/built_slice_wire.hpp"

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

namespace eventloom {

namespace {

constexpr std::array<std::byte, 8> kZeros{};

/// Calls `column(vector, number of elements)` for each column, in wire order.
template <class Slice, class Column>
void for_each_column(Slice& slice, const BuiltSliceHead& head, Column&& column) {
  column(slice.events.time, head.n_events);
  column(slice.events.duration, head.n_events);
  column(slice.events.n_hits, head.n_events);
  column(slice.events.flags, head.n_events);
  column(slice.events.sources_missing, head.n_events);
  column(slice.events.hits_in_slice, head.n_events);
  column(slice.events.owned, head.n_events);
  column(slice.hits.time, head.n_hits);
  column(slice.hits.channel, head.n_hits);
  column(slice.hits.source, head.n_hits);
  column(slice.hits.payload_words, head.n_payload_counts);
  column(slice.hits.payload, head.n_payload);
  column(slice.sources_missing, head.n_sources_missing);
  column(slice.losses, head.n_losses);
  column(slice.live_hits, head.n_live_hits);
  column(slice.left_out, head.n_left_out);
  column(slice.filled, head.n_filled);
}

std::size_t padding(std::size_t bytes) { return (8 - bytes % 8) % 8; }

std::uint64_t sum_of(const std::vector<std::uint32_t>& column) {
  return std::accumulate(column.begin(), column.end(), std::uint64_t{0});
}

[[noreturn]] void contradiction(const std::string& what) { throw std::runtime_error("a built slice " + what); }

/// Checks the invariants on which users of the columns rely.
void check(const BuiltSlice& slice) {
  const auto& [events, hits] = std::tie(slice.events, slice.hits);
  if (sum_of(events.n_hits) != hits.size()) contradiction("whose events do not add up to its hits");
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.hits_in_slice[i] > events.n_hits[i])
      contradiction("with more hits of an event in it than the event has");
  }
  if (!hits.payload_words.empty() && hits.payload_words.size() != hits.size())
    contradiction("with payload words for only some of its hits");
  if (sum_of(hits.payload_words) != hits.payload.size())
    contradiction("with a number of words that differs from that of its hits");
  for (const auto& loss : slice.losses) {
    if (!known(loss.cause)) contradiction("with a loss of unknown cause");
  }
}

BuiltSliceHead head_of(const BuiltSlice& slice) {
  return {slice.ledger,
          slice.events.size(),
          slice.hits.size(),
          slice.hits.payload_words.size(),
          slice.hits.payload.size(),
          slice.sources_missing.size(),
          slice.losses.size(),
          slice.live_hits.size(),
          slice.left_out.size(),
          slice.filled.size()};
}

/// Decodes one slice and removes it from the front of `bytes`.
void take(std::span<const std::byte>& bytes, BuiltSlice& out) {
  BuiltSliceHead head;
  if (bytes.size() < sizeof head) contradiction("without its header");
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  out.ledger = head.ledger;
  for_each_column(out, head, [&](auto& column, std::uint64_t n) {
    const std::uint64_t size = n * sizeof(column[0]);
    if (n > bytes.size() || size > bytes.size()) contradiction("shorter than its header states");
    column.resize(n);
    if (n != 0) std::memcpy(column.data(), bytes.data(), size);
    bytes = bytes.subspan(std::min(bytes.size(), size + padding(size)));
  });
  check(out);
}

}  // namespace

std::vector<std::span<const std::byte>> to_wire(std::span<const BuiltSlice> built, std::vector<BuiltSliceHead>& heads) {
  heads.clear();
  for (const auto& slice : built) heads.push_back(head_of(slice));
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t i = 0; i < built.size(); ++i) {
    pieces.push_back(std::as_bytes(std::span(&heads[i], 1)));
    for_each_column(built[i], heads[i], [&](const auto& column, std::uint64_t) {
      const auto bytes = std::as_bytes(std::span(column));
      if (bytes.empty()) return;
      pieces.push_back(bytes);
      if (const auto pad = padding(bytes.size()); pad != 0) pieces.push_back(std::span(kZeros).first(pad));
    });
  }
  return pieces;
}

void from_wire(std::span<const std::byte> bytes, std::span<BuiltSlice> out) {
  for (auto& slice : out) take(bytes, slice);
  if (!bytes.empty()) contradiction("longer than its header states");
  for (const auto& slice : out) {
    if (slice.slice() != out.front().slice()) contradiction("of two numbers");
  }
}

}  // namespace eventloom
