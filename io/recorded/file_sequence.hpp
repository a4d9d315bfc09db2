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

/// The files of one source, read one after the other. `File` is constructed from a path, and throws UserError when it
/// cannot be opened.
template <class File>
class FileSequence {
 public:
  /// Opens all of them, the first one last: an invalid file shows before anything is read. At least one.
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
  /// Its path, to be named where the open file is not meant; empty for the open one.
  [[nodiscard]] std::string other_than_open(std::size_t number) const {
    return number == open_ ? std::string() : paths_[number];
  }
  [[nodiscard]] bool is_last() const { return open_ + 1 == paths_.size(); }
  /// Only when it is not the last. Closes the open file.
  void open_next() { file_.emplace(paths_[++open_]); }

  /// Of the bytes of all of them that have been read, 0 to 1.
  [[nodiscard]] double share_read() const {
    const double all = std::accumulate(bytes_.begin(), bytes_.end(), 0.0);
    const double before = std::accumulate(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(open_), 0.0);
    return all == 0 ? 1 : (before + bytes_[open_] * file_->share_read()) / all;
  }
  /// All of them, as one input.
  [[nodiscard]] InputFile input(const std::string& name) const { return describe_files(name, paths_); }

 private:
  std::vector<std::string> paths_;
  std::vector<double> bytes_;  ///< of each
  std::size_t open_ = 0;
  std::optional<File> file_;
};

}  // namespace eventloom
