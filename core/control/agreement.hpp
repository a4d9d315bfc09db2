#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "core/control/collective.hpp"

/// How the ranks of a run share errors.
namespace eventloom {

/// The Activity of a rank that waits for others.
inline constexpr const char* kWaitingForRanks = "waiting for the other ranks";

/// A program error on one rank, thrown by all ranks: "rank 1 on n1: ...".
class SharedError : public std::runtime_error {
 public:
  SharedError(const std::string& what, bool no_memory) : std::runtime_error(what), no_memory_(no_memory) {}
  [[nodiscard]] bool no_memory() const { return no_memory_; }

 private:
  bool no_memory_;
};

/// Collective. Runs `work` on this rank. If it throws on any rank, all ranks throw the error of the lowest such rank:
/// an error that the user can fix as UserError, any other as SharedError.
void agree(const Collective& ranks, const std::function<void()>& work);

/// Collective: like agree(), for work that may take long on some ranks: the others sleep meanwhile.
void agree_at_rest(const Collective& ranks, const std::function<void()>& work);

/// Collective: waits until all ranks have called it, and yields the core to those that still work.
void meet(const Collective& ranks);

/// Declares that all ranks throw the next exception of this rank at the same place, so that all free their resources.
void leave_together();
/// Whether all ranks throw the exception that is unwinding this rank, or has just unwound it.
bool left_together();

}  // namespace eventloom
