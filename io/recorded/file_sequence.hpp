#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "io/files/file_checksum.hpp"

namespace eventloom {

/// The files of one source, read one behind the other. `File` is made from a path, and throws UserError when it cannot
/// be opened.
template <class File>
class FileSequence {
 public:
  /// All of them are opened, the first one last: what is none shows before anything is read. One at least.
  explicit FileSequence(std::span<const std::string> paths) : paths_(paths.begin(), paths.end()) {
    for (std::size_t i = paths_.size(); i > 0; --i) file_.emplace(paths_[i - 1]);
  }

  /// The one that is open.
  [[nodiscard]] File& file() { return *file_; }
  [[nodiscard]] const File& file() const { return *file_; }
  [[nodiscard]] std::size_t number() const { return open_; }
  [[nodiscard]] const std::string& path(std::size_t number) const { return paths_[number]; }
  [[nodiscard]] bool is_last() const { return open_ + 1 == paths_.size(); }
  /// Only when it is not the last. What was open is gone.
  void open_next() { file_.emplace(paths_[++open_]); }

  /// All of them, as one input.
  [[nodiscard]] InputFile input(const std::string& name) const { return describe_files(name, paths_); }

 private:
  std::vector<std::string> paths_;
  std::size_t open_ = 0;
  std::optional<File> file_;
};

}  // namespace eventloom
