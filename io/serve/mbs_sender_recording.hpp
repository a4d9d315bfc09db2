#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "io/serve/event_player.hpp"

namespace eventloom {

/// The events of recordings, file after file, repeatedly on request. Event numbers continue across repetitions.
class MbsRecording {
 public:
  /// Throws UserError as OpenPlayer.
  MbsRecording(std::vector<PlayedFile> files, std::uint64_t repetitions);

  /// Advances to the next event; false at the end. Damage on the way is reported and counted.
  bool next();
  /// Valid until next().
  [[nodiscard]] const LmdEvent& event() const { return player_->event(); }
  /// When it was recorded, ticks of 1 ns; nothing where that is unknown.
  [[nodiscard]] std::optional<Tick> time() const { return player_->time(); }
  /// Back to the first event of the first repetition.
  void rewind();

  /// The first file whose times are only event numbers.
  [[nodiscard]] const SourceUri* untimed() const { return untimed_; }
  /// Damaged places in everything read so far.
  [[nodiscard]] std::uint64_t damaged_places() const { return damaged_ + player_->damaged_places(); }

 private:
  void open(std::size_t number);
  bool open_next();
  void number_event();

  std::vector<PlayedFile> files_;
  std::uint64_t repetitions_;
  std::size_t open_ = 0;          ///< number of the file that is open
  std::uint64_t repetition_ = 0;  ///< from 0
  std::unique_ptr<EventPlayer> player_;
  const SourceUri* untimed_ = nullptr;
  std::optional<std::uint32_t> first_number_;
  std::uint32_t last_number_ = 0;  ///< as sent
  std::uint32_t number_shift_ = 0;
  std::uint64_t damaged_ = 0;  ///< places in what earlier players have read
};

}  // namespace eventloom
