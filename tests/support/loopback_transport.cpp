#include "tests/support/loopback_transport.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace eventloom {

namespace {

constexpr std::size_t kPacket = 64;

}  // namespace

class LoopbackFabric::Endpoint final : public Transport {
 public:
  Endpoint(LoopbackFabric& fabric, int rank) : fabric_(fabric), rank_(rank) {}

  std::span<std::byte> window() override { return fabric_.windows_[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] bool is_near(int) const override { return fabric_.near_; }
  void progress() override { fabric_.deliver_some(); }
  void sync() override {}

 private:
  // Writes in two parts, so that a reader may see a half-written piece.
  void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) override {
    std::size_t cut = data.empty() ? 0 : fabric_.random_() % (data.size() + 1);
    if (!fabric_.near_) cut = cut / kPacket * kPacket;
    fabric_.put_piece(rank_, rank, offset, data.first(cut));
    fabric_.put_piece(rank_, rank, offset + cut, data.subspan(cut));
    fabric_.deliver_some();
  }
  void complete_puts(int rank) override { fabric_.complete(rank_, rank); }

  LoopbackFabric& fabric_;
  int rank_;
};

LoopbackFabric::LoopbackFabric(const std::vector<std::uint64_t>& window_bytes, std::uint64_t seed) : random_(seed) {
  for (std::size_t r = 0; r < window_bytes.size(); ++r) {
    windows_.emplace_back(window_bytes[r]);
    endpoints_.push_back(std::make_unique<Endpoint>(*this, static_cast<int>(r)));
  }
}

LoopbackFabric::~LoopbackFabric() = default;

Transport& LoopbackFabric::rank(int rank) { return *endpoints_[static_cast<std::size_t>(rank)]; }

void LoopbackFabric::leave(int rank) {
  std::erase_if(pending_, [&](const Put& put) { return put.from == rank; });
}

void LoopbackFabric::check(const Put& put) const {
  if (std::ranges::equal(put.data, put.as_put)) return;
  throw std::logic_error("the source of a put to offset " + std::to_string(put.offset) + " of rank " +
                         std::to_string(put.to) + " changed before the put was complete");
}

std::span<std::byte> LoopbackFabric::place_of(const Put& put) {
  return std::span(windows_[static_cast<std::size_t>(put.to)]).subspan(put.offset, put.data.size());
}

void LoopbackFabric::put_piece(int from, int to, std::uint64_t offset, std::span<const std::byte> data) {
  const Put put{from, to, offset, data, {data.begin(), data.end()}, false};
  if (near_ || !std::ranges::equal(data, place_of(put))) pending_.push_back(put);
}

/// Delivers mostly new puts: otherwise little would arrive while many old puts wait for their flush.
void LoopbackFabric::deliver_some() {
  constexpr std::size_t kMost = 8;
  const std::size_t n = random_() % (std::min(pending_.size(), kMost) + 1);
  for (std::size_t i = 0; i < n; ++i) {
    auto put = pending_.begin() + static_cast<std::ptrdiff_t>(random_() % pending_.size());
    if (random_() % 8 != 0) put = std::find_if(put, pending_.end(), [](const Put& p) { return !p.delivered; });
    if (put == pending_.end()) put = std::ranges::find(pending_, false, &Put::delivered);
    if (put == pending_.end()) continue;
    if (near_) {
      std::ranges::copy(put->data, place_of(*put).begin());
      put->delivered = true;
    } else if (deliver_in_part(*put)) {
      pending_.erase(put);
    }
  }
}

/// Completes whole packets; part of another may arrive, too, and again later. Returns whether the put is complete.
bool LoopbackFabric::deliver_in_part(Put& put) {
  check(put);
  const auto bytes = random_() % 2 == 0 ? put.data.size() : random_() % (put.data.size() + 1);
  std::ranges::copy(put.data.first(bytes), place_of(put).begin());
  const auto over = bytes == put.data.size() ? bytes : bytes / kPacket * kPacket;
  put.offset += over;
  put.data = put.data.subspan(over);
  put.as_put.erase(put.as_put.begin(), put.as_put.begin() + static_cast<std::ptrdiff_t>(over));
  return std::ranges::equal(put.data, place_of(put));
}

void LoopbackFabric::complete(int from, int to) {
  std::shuffle(pending_.begin(), pending_.end(), random_);
  std::erase_if(pending_, [&](Put& put) {
    if (put.from != from || put.to != to) return false;
    check(put);
    std::ranges::copy(put.data, place_of(put).begin());
    return true;
  });
}

}  // namespace eventloom
