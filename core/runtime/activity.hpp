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

/// What the main thread is doing now: "writing", "waiting for rank 3", or "" when nothing in particular. Callable from
/// any thread; holds up none, and looks again while the main thread is just changing it.
std::string current_activity();

}  // namespace eventloom
