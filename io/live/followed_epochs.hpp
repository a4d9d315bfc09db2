#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/followed_stream_file.hpp"
#include "io/files/defect_log.hpp"
#include "io/files/followed_files.hpp"
#include "io/live/acknowledgement.hpp"
#include "io/live/feed_queue.hpp"
#include "io/live/full_mark.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom {

/// The buffers of .epochs files that are followed while they are written, delivered as stored, as soon as they are
/// whole: see FollowedStreamFile. A file ends with its index, or, without one, when FollowedFiles::is_final(); the
/// source then continues with the next file, whose epochs must be later.
///
/// Buffers that are missing by number, twice or out of order, and bytes that are not a buffer, become damage. So does
/// what follows when a file can no longer be followed or has another header.
class FollowedEpochs final : public LiveFeed {
 public:
  /// `first`: one of `files`. `acknowledges`: their recorder may remove files that are no longer needed, see
  /// Acknowledgement. Throws UserError when the first cannot be opened or has no valid header.
  FollowedEpochs(const std::string& first, Followed files, std::size_t most_bytes, bool acknowledges);
  ~FollowedEpochs() override;
  FollowedEpochs(const FollowedEpochs&) = delete;
  FollowedEpochs& operator=(const FollowedEpochs&) = delete;

  [[nodiscard]] StreamHeader header() const override { return header_; }
  [[nodiscard]] bool header_known() const override { return true; }
  [[nodiscard]] const std::string& name() const override { return files_->pattern(); }
  [[nodiscard]] bool is_connected() const override { return !ended_; }
  void take(FeedBatch& batch) override { queue_.take(batch); }
  void stop() override { files_->stop(); }
  void safe_before(Epoch epoch) override;
  [[nodiscard]] std::uint64_t anomalies() const override { return anomalies_ + unknown_losses_; }
  [[nodiscard]] SourceCounts counts() const override;

 private:
  /// A file that has been opened, and the first epoch in it.
  struct Begun {
    std::uint64_t number = 0;
    Epoch first_epoch = 0;
  };

  enum class Step : std::uint8_t { going_on, pause, end_of_file, stopped };

  void run();
  void wait();
  bool end_file();
  void open_next(const std::string& next);
  StreamHeader open(const std::string& path);
  Step step();
  void note_begin(Epoch epoch);
  Step take_buffer(const EpochBufferHeader& header);
  Step take_cut();
  void report_defect(const std::string& text);
  bool lose(Damage damage, const std::string& text);
  void break_off(std::uint32_t hits, const std::string& text);

  Followed files_;
  FeedQueue queue_;
  FullMark full_mark_;
  StreamHeader header_;
  std::optional<FollowedStreamFile> file_;
  std::optional<DefectLog> defect_log_;
  std::uint64_t next_sequence_ = 0;  ///< number of the next buffer in the file
  std::uint64_t next_hits_before_ = 0;
  std::optional<Epoch> first_epoch_;
  Epoch end_epoch_ = 0;                             ///< end of the last buffer of all files
  std::optional<Acknowledgement> acknowledgement_;  ///< used by the taking thread
  std::mutex begun_mutex_;
  std::deque<Begun> begun_;               ///< oldest first; guarded by the mutex
  std::atomic<bool> broken_off_ = false;  ///< the rest of the last file was not read
  std::atomic<bool> ended_ = false;
  std::atomic<std::uint64_t> anomalies_ = 0;
  std::atomic<std::uint64_t> unknown_losses_ = 0;  ///< see EpochBufferHeader
  std::thread thread_;
};

}  // namespace eventloom
