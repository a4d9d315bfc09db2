#pragma once

#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "io/files/file_checksum.hpp"

namespace eventloom {

/// The files of one source, read in sequence. `File` is constructible from a path; its constructor throws UserError
/// when the file cannot be opened.
template <class File>
class FileSequence {
 public:
  /// Opens each file once, in reverse order, so that an invalid file is found before anything is read. Needs at least
  /// one path.
  explicit FileSequence(std::span<const std::string> paths) : paths_(paths.begin(), paths.end()) {
    bytes_.resize(paths_.size());
    for (std::size_t i = paths_.size(); i > 0; --i) {
      file_.emplace(paths_[i - 1]);
      bytes_[i - 1] = static_cast<double>(file_->size());
    }
  }

  /// The open file.
  [[nodiscard]] File& file() { return *file_; }
  [[nodiscard]] const File& file() const { return *file_; }
  [[nodiscard]] std::size_t number() const { return open_; }
  [[nodiscard]] const std::string& path(std::size_t number) const { return paths_[number]; }
  /// Path of a file for messages about a file other than the open one; empty for the open one.
  [[nodiscard]] std::string other_than_open(std::size_t number) const {
    return number == open_ ? std::string() : paths_[number];
  }
  [[nodiscard]] bool is_last() const { return open_ + 1 == paths_.size(); }
  /// Closes the open file and opens the next, which must exist.
  void open_next() { file_.emplace(paths_[++open_]); }

  /// Fraction of the bytes of all files that has been read, 0 to 1.
  [[nodiscard]] double share_read() const {
    const double all = std::accumulate(bytes_.begin(), bytes_.end(), 0.0);
    const double before = std::accumulate(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(open_), 0.0);
    return all == 0 ? 1 : (before + bytes_[open_] * file_->share_read()) / all;
  }
  /// Describes all files as one input.
  [[nodiscard]] InputFile input(const std::string& name) const { return describe_files(name, paths_); }

 private:
  std::vector<std::string> paths_;
  std::vector<double> bytes_;  ///< size of each file
  std::size_t open_ = 0;
  std::optional<File> file_;
};

}  // namespace eventloom
