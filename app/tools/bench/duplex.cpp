#include "app/tools/bench/duplex.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "formats/crc32c.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kDepth = 8;
constexpr std::array<std::pair<std::string_view, Wait>, 3> kWaits = {
    {{"poll", Wait::poll}, {"yield", Wait::yield}, {"sleep", Wait::sleep}}};
constexpr auto kNap = std::chrono::microseconds(5);

}  // namespace

std::vector<std::string> wait_names() {
  std::vector<std::string> names;
  for (const auto& [name, wait] : kWaits) names.emplace_back(name);
  return names;
}

Wait parse_wait(const std::string& name) {
  for (const auto& [known, wait] : kWaits) {
    if (known == name) return wait;
  }
  throw std::invalid_argument("'" + name + "' is not poll, yield or sleep");
}

RingGeometry Duplex::geometry_for(std::uint32_t largest) { return {kDepth, (largest + 63) / 64 * 64 + 64}; }

Duplex::Duplex(const Communicator& communicator, std::optional<int> peer, std::uint32_t largest, Wait wait)
    : geometry_(geometry_for(largest)),
      transport_(communicator, peer ? geometry_.ring_bytes() + kCreditBytes : 0),
      wait_(wait) {
  if (!peer) return;
  const std::uint64_t credit = geometry_.ring_bytes();
  outbox_.emplace(RingProducer({transport_, transport_}, *peer, 0, credit, geometry_), Outbox::BodyCrc::all);
  ring_.emplace(Windows{transport_, transport_}, *peer, 0, credit, geometry_);
  ring_->set_slice_limit(kNoSlice.value);
  ring_->grant(true);
}

bool Duplex::try_send(std::span<const std::byte> message) {
  if (!outbox_->accepts({sent_})) return false;
  message_.slice = {sent_++};
  message_.body.assign(1, message);
  outbox_->start(message_);
  outbox_->pump();
  outbox_->publish();
  if (message.size() >= kCopiedBelow) outbox_->flush();
  return true;
}

void Duplex::send(std::span<const std::byte> message) {
  while (!try_send(message)) pause();
}

std::optional<std::span<const std::byte>> Duplex::poll() {
  auto cell = ring_->poll();
  if (!cell) return std::nullopt;
  const auto chunk = cell->next();
  if (chunk && chunk->header.body_crc == crc32c(chunk->body)) return chunk->body;
  ring_->wait_for_proof();
  return std::nullopt;
}

std::span<const std::byte> Duplex::receive() {
  while (true) {
    if (const auto message = poll()) return *message;
    pause();
  }
}

void Duplex::release() {
  ring_->release();
  ring_->grant(false);
}

void Duplex::pause() {
  transport_.progress();
  if (wait_ == Wait::yield) sched_yield();
  if (wait_ == Wait::sleep) std::this_thread::sleep_for(kNap);
}

void Duplex::flush() {
  if (outbox_) outbox_->flush();
  transport_.flush_all();
}

}  // namespace eventloom
