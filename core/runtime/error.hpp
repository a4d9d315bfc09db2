#pragma once

#include <stdexcept>
#include <string>

namespace eventloom {

/// Exit codes of the program (design contract, section 5).
enum ExitCode : int {
  kExitOk = 0,        ///< all data accounted for
  kExitUsage = 2,     ///< bad usage, or input or output that cannot be opened or written
  kExitLosses = 3,    ///< finished with losses, all of them counted
  kExitStopped = 75,  ///< stopped early, but cleanly
};

/// An error that the user can fix: one line that states the problem and the fix. Ends the program with kExitUsage.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A library, rather than `new`, could not allocate memory. One line states the consumer and the amount.
class MemoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace eventloom
