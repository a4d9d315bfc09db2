#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include "core/exchange/outbox.hpp"

namespace eventloom {

/// The outboxes of one rank, indexed by builder. Tracks which are busy, so that a turn skips the others.
class Outboxes {
 public:
  explicit Outboxes(std::vector<Outbox> all) : all_(std::move(all)) {}

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] std::span<Outbox> all() { return all_; }
  [[nodiscard]] std::span<const Outbox> all() const { return all_; }
  [[nodiscard]] Outbox& operator[](std::size_t builder) { return all_[builder]; }
  [[nodiscard]] const Outbox& operator[](std::size_t builder) const { return all_[builder]; }

  /// See Outbox::pump(). Call after starting a message.
  bool pump(std::size_t builder);
  /// Indices of the outboxes that are not free, ascending.
  [[nodiscard]] const std::set<std::size_t>& busy() const { return busy_; }
  /// Publishes what was pumped since the last call, in ascending order of the builders.
  void publish();

 private:
  std::vector<Outbox> all_;
  std::set<std::size_t> busy_;
  std::vector<std::size_t> pumped_;  ///< since publish()
};

}  // namespace eventloom
