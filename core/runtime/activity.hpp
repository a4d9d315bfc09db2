#pragma once

#include <string>

namespace eventloom {

/// The current activity of the main thread, if it may take long, for messages. Valid for its scope; the end of a nested
/// one restores the outer one. Use on the main thread only; costs a few stores.
class Activity {
 public:
  /// `what` must outlive the scope, as literals do: "writing", "waiting for rank"; `about`: rank of the peer, or -1.
  explicit Activity(const char* what, int about = -1);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  const char* outer_what_;
  int outer_about_;
};

/// The Activity of waiting for a rank.
inline constexpr const char* kWaitingForRank = "waiting for rank";

struct CurrentActivity {
  const char* what = "";  ///< "" if there is none
  int about = -1;         ///< rank, or -1

  [[nodiscard]] std::string text() const { return about < 0 ? what : what + (" " + std::to_string(about)); }
};

/// The current activity of the main thread. May be called from any thread; never blocks the main thread, and retries
/// while that thread changes the activity.
CurrentActivity current_activity();

/// The innermost activity interrupted by the last exception; "" if there was none. Call on the main thread only.
const char* interrupted_activity();

}  // namespace eventloom
