#pragma once

#include <exception>
#include <string>

namespace eventloom {

/// An error of the program itself, or of what it runs on; the other exit codes are in error.hpp.
inline constexpr int kExitProgram = 1;

/// What an exception comes to for who started the program.
struct Failure {
  int code = 0;            ///< ExitCode
  std::string text;        ///< one line
  bool no_memory = false;  ///< memory was not to be had

  /// Of an exception of any type: UserErrors and files that cannot be reached are for the user to fix, all others are
  /// errors of the program.
  [[nodiscard]] static Failure of(const std::exception_ptr& error);
};

}  // namespace eventloom
