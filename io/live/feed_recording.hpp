#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/live/recorded_losses.hpp"

namespace eventloom {

/// Path of a new recording of source `id` in `folder`, which is created if necessary. `keep_recordings`: keep its
/// recordings from earlier runs; otherwise throws UserError if there are any.
std::string new_recording(const std::filesystem::path& folder, SourceId id, bool keep_recordings);
/// Whether this is the name of a recording of a live source, finished or not.
bool is_recording_name(const std::string& name);

/// Records the data that a live stream receives, and stretches lost on the way, in an .epochs file. A failure to write
/// does not stop the run: the recording ends, and the failure is reported and counted.
class FeedRecording {
 public:
  /// `name` is the stream's name in messages. Throws UserError when the file cannot be created.
  FeedRecording(const std::string& path, const StreamHeader& header, std::string name);
  /// Finishes an unfinished recording.
  ~FeedRecording() { finish(); }
  FeedRecording(const FeedRecording&) = delete;
  FeedRecording& operator=(const FeedRecording&) = delete;

  /// Appends whole stored epoch buffers and known losses, both in ascending epochs and after those added before.
  void add(std::span<const std::byte> buffers, std::span<const Damage> damage);
  /// Closes the file and gives it its final name. Nothing may be added afterwards.
  void finish();
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  void attempt(const std::function<void()>& work);

  std::unique_ptr<StreamWriter> file_;  ///< null when writing has ended
  std::string name_;
  RecordedLosses losses_;
  std::uint64_t failures_ = 0;
};

}  // namespace eventloom
