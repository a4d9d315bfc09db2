#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/stream_writer.hpp"

namespace eventloom {

/// Path of a new recording of source `id` in `folder`, which is made if need be. `go_on`: beside those of the runs
/// before; otherwise these are in the way: throws UserError.
std::string new_recording(const std::filesystem::path& folder, SourceId id, bool go_on);
/// Whether recordings of live sources, whole or in the making, have such names.
bool is_recording_name(const std::string& name);

/// Keeps what a live stream receives in an .epochs file, with the stretches that were lost on the way. The run is worth
/// more than its recording: when that cannot be written any more it ends where it is, is told, and counts as failed.
class FeedRecording {
 public:
  /// `name`: of the stream, for messages. Throws UserError when the file cannot be made.
  FeedRecording(const std::string& path, const StreamHeader& header, std::string name);
  /// Finishes what has not been.
  ~FeedRecording() { finish(); }
  FeedRecording(const FeedRecording&) = delete;
  FeedRecording& operator=(const FeedRecording&) = delete;

  /// Whole stored epoch buffers and what is known to be lost, both in rising epochs and behind what was added before.
  void add(std::span<const std::byte> buffers, std::span<const Damage> damage);
  /// Gives the file its name. Nothing is added afterwards.
  void finish();
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  /// What is lost behind the last buffer in the file.
  struct Loss {
    std::uint64_t n_hits = 0;
    EpochRange epochs{std::numeric_limits<Epoch>::max(), 0};
  };

  void attempt(const std::function<void()>& work);
  void append(std::span<const std::byte> buffers, std::span<const Damage> damage);
  void note_loss(const Damage& damage);
  void append_loss(Epoch before);

  std::unique_ptr<StreamWriter> file_;  ///< null when there is nothing more to write
  std::string name_;
  Epoch end_ = 0;  ///< of what is in the file
  Loss loss_;
  std::uint64_t failures_ = 0;
};

}  // namespace eventloom
