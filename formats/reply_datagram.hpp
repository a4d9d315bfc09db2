#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formats/event_batch.hpp"

/// Datagrams with an event each, for boards: see README.md.
namespace eventloom {

/// The properties that all replies of one writer share.
struct ReplyFormat {
  EventBatchFormat batch;
  std::uint32_t writer = 0;
  std::uint32_t session = 0;       ///< drawn at random for each invocation of a run
  std::size_t datagram_bytes = 0;  ///< size of the largest datagram, at least kLeastReplyBytes
};
/// Room for an event without hits.
inline constexpr std::size_t kLeastReplyBytes = 128;

struct ReplyDatagram {
  std::span<const std::byte> bytes;
  bool is_cut = false;  ///< contains only the first hits of the event
};

/// Encodes the replies of one writer and numbers them from 0. Reuses its memory: the result is valid until the next
/// call.
class ReplyEncoder {
 public:
  explicit ReplyEncoder(ReplyFormat format) : format_(std::move(format)), batch_(format_.batch) {}
  /// `event`: the whole event.
  ReplyDatagram encode(const BuiltSlice& slice, std::size_t kind, const PlaceInSlice& event);

 private:
  [[nodiscard]] PlaceInSlice fitting(const BuiltSlice& slice, const PlaceInSlice& event) const;

  ReplyFormat format_;
  EventBatchEncoder batch_;
  std::vector<std::byte> bytes_;
  std::uint64_t next_ = 0;
};

}  // namespace eventloom
