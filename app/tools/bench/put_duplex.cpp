#include "app/tools/bench/put_duplex.hpp"

#include <atomic>
#include <cstring>

#include "core/exchange/outbox.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kCells = 8;
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kReleasesPerReport = kCells / 2;

}  // namespace

// The window: the cells, then the number of messages that the other end has released.
PutDuplex::PutDuplex(const Communicator& communicator, const DuplexSettings& settings)
    : Duplex(settings.wait),
      body_bytes_((settings.largest + kAlignment - 1) / kAlignment * kAlignment + kAlignment - sizeof(Trailer)),
      transport_(communicator, settings.other ? trailer_offset(kCells) + sizeof(Trailer) + kAlignment : 0),
      other_(settings.other.value_or(0)),
      staged_(kCopiedBelow + sizeof(Trailer)) {}

std::uint64_t PutDuplex::trailer_offset(std::uint64_t number) const {
  return (number - 1) % kCells * (body_bytes_ + sizeof(Trailer)) + body_bytes_;
}

std::uint64_t PutDuplex::loaded(std::uint64_t offset) {
  auto& word = *reinterpret_cast<std::uint64_t*>(transport_.window().data() + offset);
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

bool PutDuplex::try_send(std::span<const std::byte> message) {
  if (sent_ - loaded(trailer_offset(kCells) + sizeof(Trailer)) >= kCells) return false;
  trailer_ = {message.size(), ++sent_};
  const auto trailer = std::as_bytes(std::span(&trailer_, 1));
  const std::uint64_t end = trailer_offset(sent_);
  if (message.size() < kCopiedBelow) {
    std::memcpy(staged_.data(), message.data(), message.size());
    std::memcpy(staged_.data() + message.size(), trailer.data(), trailer.size());
    transport_.put(other_, end - message.size(), std::span(staged_).first(message.size() + trailer.size()));
  } else {
    transport_.put(other_, end - message.size(), message);
    transport_.flush(other_);
    transport_.put(other_, end, trailer);
  }
  transport_.flush(other_);
  return true;
}

bool PutDuplex::send_complete(std::span<const std::byte> message) {
  send(message);
  return true;
}

std::optional<std::span<const std::byte>> PutDuplex::poll() {
  const std::uint64_t end = trailer_offset(taken_ + 1);
  if (loaded(end + offsetof(Trailer, number)) != taken_ + 1) return std::nullopt;
  transport_.sync();
  const std::uint64_t bytes = loaded(end);
  return transport_.window().subspan(end - bytes, bytes);
}

// The next flush to the other end completes the report: that of an answer, or of progress().
void PutDuplex::release() {
  if (++taken_ - reported_ < kReleasesPerReport) return;
  transport_.flush(other_);
  reported_ = taken_;
  transport_.put(other_, trailer_offset(kCells) + sizeof(Trailer), std::as_bytes(std::span(&reported_, 1)));
}

void PutDuplex::progress() {
  transport_.flush(other_);
  transport_.progress();
}

}  // namespace eventloom
