#pragma once

#include <string>

namespace eventloom {

/// The current activity of the main thread, if it may take long, for messages. Valid for its scope; the end of a nested
/// one restores the outer one. For the main thread alone; costs a few stores.
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

/// An Activity about the rank being waited for.
inline constexpr const char* kWaitingForRank = "waiting for rank";

struct CurrentActivity {
  const char* what = "";  ///< "" when nothing in particular
  int about = -1;         ///< rank, or -1

  [[nodiscard]] std::string text() const { return about < 0 ? what : what + (" " + std::to_string(about)); }
};

/// The current activity of the main thread. Callable from any thread; never blocks the main thread, and retries while
/// it changes the activity.
CurrentActivity current_activity();

/// The innermost activity interrupted by the exception thrown last; "" if there was none. Of the main thread.
const char* interrupted_activity();

}  // namespace eventloom
