#pragma once

#include <chrono>
#include <map>
#include <string>

namespace eventloom {

/// Records who is viewing a run, and whether all viewers have seen its end. Keeps a limited number of names.
class Viewers {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void looked(const std::string& name, bool at_the_end, Time now);
  /// Whether every viewer of the last seconds has seen the end.
  [[nodiscard]] bool all_saw_the_end(Time now) const;

 private:
  /// A viewer that polls once a second remains current.
  static constexpr auto kLooking = std::chrono::seconds(5);
  static constexpr std::size_t kMost = 256;

  struct Look {
    Time last;
    bool at_the_end = false;
  };
  std::map<std::string, Look> looks_;
};

}  // namespace eventloom
