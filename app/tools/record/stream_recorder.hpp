#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/tools/record/earlier_recording.hpp"
#include "app/tools/record/growing_file.hpp"
#include "app/tools/record/kept_files.hpp"
#include "app/tools/record/record_names.hpp"
#include "app/tools/record/record_state.hpp"
#include "io/live/recorded_losses.hpp"

namespace eventloom {

/// Writes the numbered files of one source. A file that cannot be written, as the disk is full, is tried again by each
/// flush(); until then the data wait.
class StreamRecorder {
 public:
  /// Limits of a file, which its last epoch buffer does not exceed.
  struct Limits {
    std::uint64_t bytes = 1'000'000'000;  ///< including the index; one epoch buffer may be larger
    std::uint64_t buffers = 1'000'000;    ///< limits the memory of the index
  };

  /// `kept` must outlive this object. `uri`: the source, for the state.
  StreamRecorder(RecordNames names, std::uint32_t source, std::string uri, EarlierRecording earlier, Limits limits,
                 KeptFiles& kept);

  /// Call once, before add(). `known`: the source has stated the header; otherwise that of an earlier recorder stays.
  void begin(const StreamHeader& header, bool known) {
    if (known || !header_) header_ = header;
  }
  /// Call after begin(): creates a file if the source has none, so that readers find its header before its data.
  void show_header();
  /// The source's own count, see LiveBegin.
  void keep_place(const PeerPlace& place);

  /// Adds epoch buffers and losses, see RecordedLosses.
  void add(std::span<const std::byte> buffers, std::span<const Damage> damage);
  /// Writes what has been added. Returns whether all of it is in the file.
  bool flush();
  /// The last data have been added: flush() completes the last file.
  void finish();
  /// After finish(): gives up data that cannot be written, and reports them.
  void give_up();
  /// After the last file is complete: creates the end mark. Returns false when that fails, or the disk has failed.
  bool mark_end();

  [[nodiscard]] const RecordNames& names() const { return names_; }
  [[nodiscard]] std::uint64_t next_number() const { return next_number_; }
  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t buffers() const { return buffers_; }
  /// Bytes and hits of the epoch buffers in the files; hits of known losses are not among them.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t hits_unwritten() const { return hits_unwritten_; }
  [[nodiscard]] bool is_blocked() const { return blocked_since_.has_value(); }

 private:
  using Clock = std::chrono::steady_clock;

  bool write_file();
  void open_next();
  void end_file();
  void place_batch();
  void shelve();
  [[nodiscard]] bool is_full_for(std::uint64_t stored) const;
  [[nodiscard]] RecordState state_now() const;
  bool save_state();
  bool blocked(const std::string& why);
  void unblocked();

  RecordNames names_;
  std::uint32_t source_;
  std::string uri_;
  Limits limits_;
  KeptFiles& kept_;
  std::optional<StreamHeader> header_;  ///< set by begin()
  RecordedLosses losses_;
  std::vector<std::byte> added_;  ///< stored epoch buffers
  std::size_t at_ = 0;            ///< bytes of `added_` that are in the file
  std::optional<GrowingFile> file_;
  bool ended_ = false;      ///< the file has its index
  bool finishing_ = false;  ///< the last data have been added
  bool on_disk_ = true;     ///< the disk has confirmed the last file
  std::uint64_t next_number_;
  std::uint64_t file_number_ = 0;  ///< number of `file_`
  std::uint64_t hits_before_ = 0;  ///< hits of the files before `file_`, or before the next one
  Epoch end_before_ = 0;
  std::uint64_t left_out_ = 0;  ///< hits left out by earlier recorders
  std::optional<PeerPlace> place_;
  std::optional<RecordState> saved_;
  std::optional<Clock::time_point> blocked_since_;
  Clock::time_point marked_full_{};  ///< when the mark was last renewed
  std::uint64_t files_ = 0;
  std::uint64_t buffers_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t hits_unwritten_ = 0;
};

}  // namespace eventloom
