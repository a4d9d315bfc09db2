#pragma once

#include <exception>
#include <string>

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

}  // namespace eventloom
