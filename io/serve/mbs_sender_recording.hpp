#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "io/serve/event_player.hpp"

namespace eventloom {

/// Reads the events of recordings, file by file, with repetitions. Event numbers continue across repetitions.
class MbsRecording {
 public:
  /// Throws UserError like OpenPlayer.
  MbsRecording(std::vector<PlayedFile> files, std::uint64_t repetitions);

  /// Advances to the next event; returns false at the end. Reports and counts damage in between.
  bool next();
  /// Valid until next().
  [[nodiscard]] const LmdEvent& event() const { return player_->event(); }
  /// The time of recording, ticks of 1 ns; std::nullopt if unknown.
  [[nodiscard]] std::optional<Tick> time() const { return player_->time(); }
  /// Returns to the first event of the first repetition.
  void rewind();

  /// The first file whose times are only event numbers; null if none.
  [[nodiscard]] const SourceUri* untimed() const { return untimed_; }
  /// Damaged places in all data read so far.
  [[nodiscard]] std::uint64_t damaged_places() const { return damaged_ + player_->damaged_places(); }

 private:
  void open(std::size_t number);
  bool open_next();
  void number_event();

  std::vector<PlayedFile> files_;
  std::uint64_t repetitions_;
  std::size_t open_ = 0;          ///< index of the open file
  std::uint64_t repetition_ = 0;  ///< counts from 0
  std::unique_ptr<EventPlayer> player_;
  const SourceUri* untimed_ = nullptr;
  std::optional<std::uint32_t> first_number_;
  std::uint32_t last_number_ = 0;  ///< last event number sent
  std::uint32_t number_shift_ = 0;
  std::uint64_t damaged_ = 0;  ///< damaged places found by earlier players
};

}  // namespace eventloom
