#pragma once

#include <string>

namespace eventloom {

/// What the main thread is doing that could take long, for messages. Holds for its scope; the end of a nested one
/// restores the outer one. For the main thread alone; costs a few stores.
class Activity {
 public:
  /// `what` must outlive the scope, a literal: "writing", "waiting for rank"; `about`: number of the peer rank, or -1.
  explicit Activity(const char* what, int about = -1);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  const char* outer_what_;
  int outer_about_;
};

/// An Activity about the rank that is waited for.
inline constexpr const char* kWaitingForRank = "waiting for rank";

struct CurrentActivity {
  const char* what = "";  ///< "" when nothing in particular
  int about = -1;         ///< rank, or -1

  [[nodiscard]] std::string text() const { return about < 0 ? what : what + (" " + std::to_string(about)); }
};

/// What the main thread is doing now. Callable from any thread; holds up none, and looks again while the main thread is
/// just changing it.
CurrentActivity current_activity();

/// What the exception that was thrown last has interrupted, the innermost; "" when nothing in particular. Of the main
/// thread.
const char* interrupted_activity();

}  // namespace eventloom
