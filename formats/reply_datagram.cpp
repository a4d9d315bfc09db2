#include "formats/reply_datagram.hpp"

#include <array>
#include <cstring>

namespace eventloom {

namespace {

enum ReplyFlag : std::uint32_t { kReplyHasPayload = 1, kReplyHasValues = 2, kReplyIsCut = 4 };

struct ReplyHeader {
  std::array<char, 8> magic = {'E', 'L', 'R', 'E', 'P', 'L', 'Y', '1'};
  std::uint64_t tick_ps = 0;
  std::uint64_t number = 0;
  std::uint32_t flags = 0;
  std::uint32_t writer = 0;
  std::uint32_t session = 0;
  std::uint32_t n_hits = 0;
};
static_assert(sizeof(ReplyHeader) == 40);

}  // namespace

ReplyDatagram ReplyEncoder::encode(const BuiltSlice& slice, std::size_t kind, const PlaceInSlice& event) {
  const auto sent = fitting(slice, event);
  const bool is_cut = sent.n_hits != event.n_hits;
  ReplyHeader header;
  header.tick_ps = format_.batch.tick_ps;
  header.number = next_++;
  header.flags = (format_.batch.with_payload ? kReplyHasPayload : 0U) |
                 (format_.batch.value_of ? kReplyHasValues : 0U) | (is_cut ? kReplyIsCut : 0U);
  header.writer = format_.writer;
  header.session = format_.session;
  header.n_hits = static_cast<std::uint32_t>(event.n_hits);
  const auto batch = batch_.encode(slice, kind, sent);
  bytes_.resize(sizeof header + batch.size());
  std::memcpy(bytes_.data(), &header, sizeof header);
  std::memcpy(bytes_.data() + sizeof header, batch.data(), batch.size());
  return {bytes_, is_cut};
}

/// Returns the place of as many of the event's first hits as a datagram can hold.
PlaceInSlice ReplyEncoder::fitting(const BuiltSlice& slice, const PlaceInSlice& event) const {
  const auto fits = [&](std::size_t hits, std::size_t words) {
    const auto bytes = event_batch_bytes(format_.batch, hits, format_.batch.with_payload ? words : 0);
    return sizeof(ReplyHeader) + bytes <= format_.datagram_bytes;
  };
  if (fits(event.n_hits, event.n_words)) return event;
  PlaceInSlice part = event;
  part.n_hits = 0;
  part.n_words = 0;
  while (part.n_hits < event.n_hits) {
    const std::size_t hit = event.first_hit + part.n_hits;
    const std::size_t words = slice.hits.payload_words.empty() ? 0 : slice.hits.payload_words[hit];
    if (!fits(part.n_hits + 1, part.n_words + words)) break;
    part.n_hits += 1;
    part.n_words += words;
  }
  return part;
}

}  // namespace eventloom
