#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "formats/ids.hpp"
#include "formats/spikes.hpp"

namespace eventloom {

/// Summary of a finished spike file.
struct SpikesSummary {
  std::uint64_t packets = 0;
  std::uint64_t spikes = 0;
  std::uint64_t bytes = 0;
  Tick first_tick = 0;  ///< 0 if there are no spikes
  Tick last_tick = 0;
};

/// Whether the file begins like a `.spikes` file, finished or not.
bool is_spikes_file(const std::filesystem::path& file);
/// Likewise, given the first bytes of a file's contents, which may be compressed.
bool begins_spikes_file(std::span<const std::byte> head);

/// Writes one `.spikes` file, see formats/spikes.hpp. It is a PartialFile until finish() renames it. Errors throw
/// UserError with file and reason.
class SpikesWriter {
 public:
  static constexpr std::uint32_t kPacketEntries = 4096;

  /// Accepts channels from `channel_base` to channel_base + 65535. `packet_entries`: maximum per packet, 2 to
  /// kMaxPacketEntries.
  SpikesWriter(std::string path, std::uint64_t tick_ps, std::uint32_t channel_base,
               std::uint32_t packet_entries = kPacketEntries);
  /// Removes an unfinished file.
  ~SpikesWriter();
  SpikesWriter(const SpikesWriter&) = delete;
  SpikesWriter& operator=(const SpikesWriter&) = delete;

  /// `time`: in ticks of `tick_ps`, not before the previous spike's.
  void append(Tick time, std::uint32_t channel);
  /// Keeps the unfinished file under its partial name.
  void abandon();
  /// Writes the last packet, waits for the disk, and renames the file.
  SpikesSummary finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace eventloom
