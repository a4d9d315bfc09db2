#pragma once

namespace eventloom {

/// While one exists, no messages are written, by any thread: for reading ahead in inputs that are read again later. Not
/// nested.
class QuietLog {
 public:
  QuietLog();
  ~QuietLog();
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;

  /// Whether one exists.
  static bool exists();

 private:
  int level_;  ///< level before this object
};

}  // namespace eventloom
