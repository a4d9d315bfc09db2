#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "app/tools/record/record_names.hpp"

namespace eventloom {

/// The complete files of all sources of a recorder, and the bytes of all its files: removes files that are no longer
/// needed, and the oldest when there is no room. Removes only stream files; reports and forgets those that it cannot
/// remove.
class KeptFiles {
 public:
  struct Removed {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t hits = 0;
  };

  /// `most_bytes`: limit of all files together; 0: none.
  explicit KeptFiles(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Adds a complete file, newer than all before. `counted`: its bytes were reported by grow().
  void add(RecordedFile file, bool counted);
  /// A file is about to grow: removes the oldest complete files until there is room.
  void grow(std::uint64_t bytes);
  /// Files of this source with smaller numbers are no longer needed.
  void acknowledge(std::uint32_t source, std::uint64_t first_needed);

  [[nodiscard]] const Removed& acknowledged() const { return acknowledged_; }
  /// Files removed for lack of room, without an acknowledgement.
  [[nodiscard]] const Removed& lost() const { return lost_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  bool remove(const RecordedFile& file, Removed& account);

  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::deque<RecordedFile> complete_;  ///< oldest first
  Removed acknowledged_;
  Removed lost_;
};

/// The number in an acknowledgement file; std::nullopt if the file does not exist or holds anything else, which
/// `trouble` then states.
std::optional<std::uint64_t> read_acknowledgement(const std::filesystem::path& file, std::string& trouble);

}  // namespace eventloom
