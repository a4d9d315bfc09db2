#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/files/complaints.hpp"
#include "io/lmd/lmd_file.hpp"
#include "io/lmd/lmd_time.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The events of recorded LMD files, file after file, repeatedly on request. Event numbers continue across repetitions.
class MbsRecording {
 public:
  /// `files`: list-mode data, with the keys of LmdTime each. Throws UserError when a key is invalid, or a file cannot
  /// be opened or is not an LMD file.
  MbsRecording(std::span<const SourceUri> files, std::uint64_t repetitions);

  /// Advances to the next event; false at the end. Damage on the way is reported and counted.
  bool next();
  /// Valid until next().
  [[nodiscard]] const LmdEvent& event() const { return event_; }
  /// When it was recorded, ticks of 1 ns; nothing where that is unknown.
  [[nodiscard]] std::optional<Tick> time() const;
  /// Back to the first event of the first repetition.
  void rewind();

  /// The first file whose times are only event numbers.
  [[nodiscard]] const SourceUri* untimed() const;
  /// Damaged places in everything read so far.
  [[nodiscard]] std::uint64_t damaged_places() const { return damaged_; }

 private:
  struct File {
    SourceUri uri;
    LmdTime time;
  };

  void open(std::size_t number);
  bool open_next();
  void take_problems();
  void number_event();

  std::vector<File> files_;
  std::uint64_t repetitions_;
  std::size_t open_ = 0;          ///< number of the file that is open
  std::uint64_t repetition_ = 0;  ///< from 0
  std::unique_ptr<LmdFile> file_;
  std::unique_ptr<Complaints> complaints_;  ///< of that file
  LmdEvent event_;
  std::optional<std::uint32_t> first_number_;
  std::uint32_t last_number_ = 0;  ///< as sent
  std::uint32_t number_shift_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace eventloom
