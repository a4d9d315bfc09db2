#pragma once

#include <stdexcept>
#include <string>

namespace eventloom {

/// Stands for a rank that a failed call does not name.
inline constexpr int kAnyRank = -1;

/// A call that needs another rank has failed, presumably because its process has ended, or its host or the network has
/// failed. Ends the program with kExitStopped if the loss has been reported, otherwise as an error of the program.
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
  /// The user has seen a message that a rank is lost.
  void set_reported() { reported_ = true; }
  [[nodiscard]] bool reported() const { return reported_; }

 private:
  int rank_;
  std::string why_;
  bool reported_ = false;
};

}  // namespace eventloom
