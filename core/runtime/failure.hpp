#pragma once

#include <exception>
#include <string>
#include <vector>

namespace eventloom {

/// An error of the program itself, or of its environment; the other exit codes are in error.hpp.
inline constexpr int kExitProgram = 1;

/// Exit code and message of an exception.
struct Failure {
  int code = 0;              ///< ExitCode
  std::string text;          ///< one line
  bool no_memory = false;    ///< an allocation failed
  std::string excerpt = {};  ///< lines below the text, see TextError; empty: none
  bool reported = false;     ///< the user has seen a message

  /// Classifies an exception of any type: the user can fix UserErrors and inaccessible files; a lost rank that has been
  /// reported stops the program; all others are errors of the program.
  [[nodiscard]] static Failure of(const std::exception_ptr& error);
};

/// Returns the code with which all ranks leave, given the code of each: launchers combine different ones to a code of
/// another meaning, by bitwise OR 1 and 2 to 3. The gravest are first errors of the program, then bad usage, then runs
/// that were stopped.
int agreed_code(const std::vector<int>& codes);

/// The code of a rank that leaves alone, with `code`, where the launcher combines its code with those of ranks that end
/// because of it, 75 or a signal's: bad usage could read as another code.
int code_to_combine(int code);

}  // namespace eventloom
