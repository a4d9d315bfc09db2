#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "core/control/collective.hpp"

/// How the ranks of a run meet errors together.
namespace eventloom {

/// What a rank does, as an Activity, while others work for all of them.
inline constexpr const char* kWaitingForRanks = "waiting for the other ranks";

/// An error of the program on one rank that all ranks know of: "rank 1 on n1: ...".
class SharedError : public std::runtime_error {
 public:
  SharedError(const std::string& what, bool no_memory) : std::runtime_error(what), no_memory_(no_memory) {}
  [[nodiscard]] bool no_memory() const { return no_memory_; }

 private:
  bool no_memory_;
};

/// Collective. Runs `work` on this rank; when it throws anything on any rank, all ranks throw that of the lowest: as
/// UserError what the user can fix, as SharedError the rest.
void agree(const Collective& ranks, const std::function<void()>& work);

/// Collective: waits until all ranks are here, sharing the cores with those that still work.
void meet(const Collective& ranks);

/// The exception that this rank throws next is thrown by all ranks, at the same place: they all free what they have.
void leave_together();
/// What unwinds, or has just unwound, this rank was shared by all.
bool left_together();

}  // namespace eventloom
