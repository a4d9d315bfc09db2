#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

namespace eventloom {

/// The mark of a full disk, an empty file: the recorder of a source cannot write, and its data wait. The recorder
/// renews the mark until it can write again, and then removes it. If it ends first, the mark stays: hits are missing at
/// the end of its files. The name is that of the data up to the first dot, and `.full`.
std::filesystem::path full_mark_of(const std::filesystem::path& file);

/// Creates the mark, or sets its time to now. Errors are ignored.
void renew_full_mark(const std::filesystem::path& mark);
/// Removes the mark, but no file that has any contents.
void remove_full_mark(const std::filesystem::path& mark);

/// How often the recorder renews the mark.
constexpr std::chrono::milliseconds kFullMarkEvery{500};

/// The mark as a follower sees it. Times of the file are compared only with each other, as clocks of hosts differ.
class FullMark {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `file`: any file of the recorded source.
  explicit FullMark(const std::filesystem::path& file) : mark_(full_mark_of(file)) {}
  /// Whether the mark is there, and its recorder has renewed it lately: it is not a dead recorder's.
  bool is_fresh(Time now);
  /// Whether its recorder seems to have ended and left it. `ended`: the source has its end mark.
  bool is_left(bool ended, Time now) { return std::filesystem::exists(mark_) && (ended || !is_fresh(now)); }

 private:
  std::filesystem::path mark_;
  std::optional<std::filesystem::file_time_type> renewed_;
  Time seen_{};  ///< when the mark was last seen to have changed
};

}  // namespace eventloom
