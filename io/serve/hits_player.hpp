#pragma once

#include <memory>
#include <vector>

#include "core/dataflow/event_hits.hpp"
#include "io/event_files/lmd_event_maker.hpp"
#include "io/recorded/hit_reader.hpp"
#include "io/serve/event_player.hpp"

namespace eventloom {

/// Plays the hits of a source, whose epochs must ascend. In triggered data, hits of equal time form an event; in
/// free-running data, all hits of an epoch. Hits are in time order, with source number 0. Events without a number are
/// numbered from 1.
class HitsPlayer final : public EventPlayer {
 public:
  /// Throws UserError for time-sorted hits of a run, which belong to several sources.
  explicit HitsPlayer(std::unique_ptr<HitReader> reader);

  bool next() override;
  [[nodiscard]] LmdEvent& event() override { return *event_; }
  [[nodiscard]] bool timed() const override { return !numbered_; }
  [[nodiscard]] std::optional<Tick> time() const override;
  [[nodiscard]] std::uint64_t damaged_places() const override { return losses_ + reader_->anomalies(); }

 private:
  struct Hit {
    Tick time = 0;
    std::uint32_t channel = 0;
    std::uint32_t words = 0;
    std::size_t first_word = 0;  ///< index in words_
  };
  bool read_epoch();
  bool read_block();
  [[nodiscard]] std::size_t event_end() const;
  EventHits view_of(std::size_t end);

  std::unique_ptr<HitReader> reader_;
  bool numbered_;   ///< times are event numbers
  bool triggered_;  ///< hits of equal time form an event
  LmdEventMaker events_;
  HitBlock block_;
  std::size_t in_block_ = 0;  ///< hits of block_ already taken into this or earlier epochs
  std::vector<Hit> hits_;     ///< hits of the current epoch
  std::vector<std::uint32_t> words_;
  std::size_t at_ = 0;  ///< index in hits_ where the next event begins
  HitColumns columns_;  ///< hits of the current event
  std::uint64_t number_ = 0;
  LmdEvent* event_ = nullptr;
  std::uint64_t losses_ = 0;
};

}  // namespace eventloom
