#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace eventloom {

/// The files of one recorded source in its folder, all called `source_NNN` and more:
///
///   source_000.000000.epochs, source_000.000001.epochs ...   the data, in this order
///   source_000.end     empty: the recorder has ended, and the last file is complete
///   source_000.done    written by others: number of the first file that is still needed
///   source_000.full    the disk is full, see full_mark_of()
///   source_000.state   what the recorder must know after a restart, see RecordState
class RecordNames {
 public:
  RecordNames(std::filesystem::path folder, std::uint32_t source);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Folder and `source_NNN`.
  [[nodiscard]] std::string stem() const { return (folder_ / stem_).string(); }
  [[nodiscard]] std::filesystem::path data(std::uint64_t number) const;
  [[nodiscard]] std::filesystem::path end_mark() const { return stem() + ".end"; }
  [[nodiscard]] std::filesystem::path full_mark() const { return stem() + ".full"; }
  [[nodiscard]] std::filesystem::path acknowledgement() const { return stem() + ".done"; }
  [[nodiscard]] std::filesystem::path state() const { return stem() + ".state"; }

  /// The number of a file of data; std::nullopt for any other name.
  [[nodiscard]] std::optional<std::uint64_t> number_of(const std::filesystem::path& file) const;

 private:
  std::filesystem::path folder_;
  std::string stem_;
};

/// A complete file of data.
struct RecordedFile {
  std::uint32_t source = 0;
  std::uint64_t number = 0;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;
};

}  // namespace eventloom
