#include "app/tools/bench/ring_duplex.hpp"

#include "formats/crc32c.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kRingDepth = 8;

RingGeometry geometry_for(std::uint32_t largest) { return {kRingDepth, (largest + 63) / 64 * 64 + 64}; }

}  // namespace

RingDuplex::RingDuplex(const Communicator& communicator, const DuplexSettings& settings)
    : Duplex(settings.wait),
      geometry_(geometry_for(settings.largest)),
      transport_(communicator, settings.other ? geometry_.ring_bytes() + kCreditBytes : 0) {
  if (!settings.other) return;
  const std::uint64_t credit = geometry_.ring_bytes();
  outbox_.emplace(RingProducer({transport_, transport_}, *settings.other, 0, credit, geometry_), Outbox::BodyCrc::all);
  ring_.emplace(Windows{transport_, transport_}, *settings.other, 0, credit, geometry_);
  ring_->set_slice_limit(kNoSlice.value);
  ring_->grant(true);
}

bool RingDuplex::try_send(std::span<const std::byte> message) {
  if (!outbox_->accepts({sent_})) return false;
  message_.slice = {sent_++};
  message_.body.assign(1, message);
  outbox_->start(message_);
  outbox_->pump();
  outbox_->publish();
  if (message.size() >= kCopiedBelow) outbox_->flush();
  return true;
}

bool RingDuplex::send_complete(std::span<const std::byte> message) {
  send(message);
  outbox_->flush();
  return true;
}

std::optional<std::span<const std::byte>> RingDuplex::poll() {
  auto cell = ring_->poll();
  if (!cell) return std::nullopt;
  const auto chunk = cell->next();
  if (chunk && chunk->header.body_crc == crc32c(chunk->body)) return chunk->body;
  ring_->wait_for_proof();
  return std::nullopt;
}

void RingDuplex::release() {
  ring_->release();
  ring_->grant(false);
}

void RingDuplex::flush() {
  if (outbox_) outbox_->flush();
  transport_.flush_all();
}

}  // namespace eventloom
