#pragma once

#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/dataflow/source.hpp"
#include "core/runtime/error.hpp"
#include "io/files/file_checksum.hpp"
#include "io/files/followed_files.hpp"

namespace eventloom {

/// The files of one source, read in sequence. `File` is constructible from a path, and from the files that are
/// followed, if any; its constructor throws UserError when the file cannot be opened. `File::can_open(path)` is whether
/// a file has grown enough to be opened.
template <class File>
class FileSequence {
 public:
  /// Opens each file once, in reverse order, so that an invalid file is found before anything is read. Needs at least
  /// one path. `followed`: the files after the last path, some of which may come later; null: there are none.
  explicit FileSequence(std::span<const std::string> paths, Followed followed = nullptr)
      : followed_(std::move(followed)), paths_(paths.begin(), paths.end()) {
    for (std::size_t i = paths_.size(); i > 0; --i) open(i - 1);
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
  /// Whether no file follows the open one, so far.
  [[nodiscard]] bool is_last() const { return (followed_ != nullptr && followed_->stopped()) || !next_path(); }
  /// Whether the next file exists, but cannot be opened yet.
  [[nodiscard]] bool awaits_next() const {
    if constexpr (requires { File::can_open(std::string()); }) {
      const auto next = followed_ == nullptr ? std::nullopt : next_path();
      return next && !File::can_open(*next) && !followed_->is_final(*next);
    }
    return false;
  }
  /// Closes the open file and opens the next, which must exist.
  void open_next() {
    const auto next = next_path();
    if (!next) throw UserError("the file after '" + paths_[open_] + "' was removed before it was read");
    if (open_ + 1 == paths_.size()) paths_.push_back(*next);
    open(open_ + 1);
  }

  /// Fraction of the bytes of all files that has been read, 0 to 1.
  [[nodiscard]] double share_read() const {
    const double all = std::accumulate(bytes_.begin(), bytes_.end(), 0.0);
    const double before = std::accumulate(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(open_), 0.0);
    return all == 0 ? 1 : (before + bytes_[open_] * file_->share_read()) / all;
  }
  /// Describes all files as one input.
  [[nodiscard]] InputFile input(const std::string& name) const { return describe_files(name, paths_); }

 private:
  [[nodiscard]] std::optional<std::string> next_path() const {
    if (open_ + 1 < paths_.size()) return paths_[open_ + 1];
    return followed_ == nullptr ? std::nullopt : followed_->next_after(paths_[open_]);
  }
  void open(std::size_t number) {
    open_ = number;
    if constexpr (std::is_constructible_v<File, std::string, Followed>) {
      file_.emplace(paths_[number], followed_);
    } else {
      file_.emplace(paths_[number]);
    }
    bytes_.resize(paths_.size());
    bytes_[number] = static_cast<double>(file_->size());
  }

  Followed followed_;  ///< null: the paths are all
  std::vector<std::string> paths_;
  std::vector<double> bytes_;  ///< size of each file
  std::size_t open_ = 0;
  std::optional<File> file_;
};

}  // namespace eventloom
