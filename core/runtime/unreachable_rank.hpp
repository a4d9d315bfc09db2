#pragma once

#include <stdexcept>
#include <string>

namespace eventloom {

/// Stands for a rank that a failed call does not name.
inline constexpr int kAnyRank = -1;

/// Another rank cannot be reached any more: its process has ended, or its host or the network has failed. Ends the
/// program with kExitStopped.
class UnreachableRank : public std::runtime_error {
 public:
  /// `why`: the call that failed.
  UnreachableRank(int rank, const std::string& why)
      : std::runtime_error((rank == kAnyRank ? "another rank" : "rank " + std::to_string(rank)) +
                           " cannot be reached: " + why),
        rank_(rank),
        why_(why) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const std::string& why() const { return why_; }
  /// The user has seen a message.
  void set_reported() { reported_ = true; }
  [[nodiscard]] bool reported() const { return reported_; }

 private:
  int rank_;
  std::string why_;
  bool reported_ = false;
};

}  // namespace eventloom
