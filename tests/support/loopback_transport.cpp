#include "tests/support/loopback_transport.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace eventloom {

class LoopbackFabric::Endpoint final : public Transport {
 public:
  Endpoint(LoopbackFabric& fabric, int rank) : fabric_(fabric), rank_(rank) {}

  std::span<std::byte> window() override { return fabric_.windows_[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] bool is_near(int) const override { return fabric_.near_; }
  void progress() override { fabric_.deliver_some(); }
  void sync() override {}

 private:
  // Writes in two halves, so that a reader may see a half-written piece.
  void start_put(int rank, std::uint64_t offset, std::span<const std::byte> data) override {
    const std::size_t cut = data.empty() ? 0 : fabric_.random_() % (data.size() + 1);
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

void LoopbackFabric::copy(Put& put) {
  put.delivered = true;
  if (put.data.empty()) return;
  auto& window = windows_[static_cast<std::size_t>(put.to)];
  std::memcpy(window.data() + put.offset, put.data.data(), put.data.size());
}

void LoopbackFabric::put_piece(int from, int to, std::uint64_t offset, std::span<const std::byte> data) {
  pending_.push_back({from, to, offset, data, {data.begin(), data.end()}, false});
}

/// Delivers mostly new puts: otherwise little would arrive while many old puts wait for their flush.
void LoopbackFabric::deliver_some() {
  constexpr std::size_t kMost = 8;
  const std::size_t n = random_() % (std::min(pending_.size(), kMost) + 1);
  for (std::size_t i = 0; i < n; ++i) {
    auto put = pending_.begin() + static_cast<std::ptrdiff_t>(random_() % pending_.size());
    if (random_() % 8 != 0) put = std::find_if(put, pending_.end(), [](const Put& p) { return !p.delivered; });
    if (put == pending_.end()) put = std::ranges::find(pending_, false, &Put::delivered);
    if (put != pending_.end()) copy(*put);
  }
}

void LoopbackFabric::complete(int from, int to) {
  std::shuffle(pending_.begin(), pending_.end(), random_);
  std::erase_if(pending_, [&](Put& put) {
    if (put.from != from || put.to != to) return false;
    if (!std::ranges::equal(put.data, put.as_put)) {
      throw std::logic_error("the source of a put to offset " + std::to_string(put.offset) + " of rank " +
                             std::to_string(to) + " was changed before the flush");
    }
    copy(put);
    return true;
  });
}

}  // namespace eventloom
