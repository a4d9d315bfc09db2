#pragma once

#include <chrono>
#include <map>
#include <string>

namespace eventloom {

/// Those who look at a run again and again, and whether all of them have seen its end. A few names are kept, however
/// many look.
class Viewers {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void looked(const std::string& name, bool at_the_end, Time now);
  /// Everybody who has looked within the last seconds has seen the end.
  [[nodiscard]] bool all_saw_the_end(Time now) const;

 private:
  /// Who asks once a second is still there.
  static constexpr auto kLooking = std::chrono::seconds(5);
  static constexpr std::size_t kMost = 256;

  struct Look {
    Time last;
    bool at_the_end = false;
  };
  std::map<std::string, Look> looks_;
};

}  // namespace eventloom
