#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "io/files/output_lock.hpp"

namespace eventloom {

/// Informs the recorder of a source (`eventloom record`) of the files that are no longer needed: `source_000.done`
/// beside `source_000.000012.epochs` holds the number of the first that is. The recorder removes the files before it.
/// Only one run at a time may do this.
class Acknowledgement {
 public:
  /// `file`: any file of the recorder. Throws UserError if its name is not that of such a file, or if another run
  /// acknowledges them.
  explicit Acknowledgement(const std::string& file);

  /// Returns the number in the name of a file; std::nullopt if it has none.
  static std::optional<std::uint64_t> number_of(const std::filesystem::path& file);

  /// Declares the files before `first` no longer needed; a lower number never replaces a higher one. A failure is
  /// reported once and is not an error: the files are kept.
  void write(std::uint64_t first);

 private:
  std::filesystem::path place_;
  std::unique_ptr<OutputLock> lock_;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace eventloom
