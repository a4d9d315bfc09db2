#pragma once

#include <span>
#include <string_view>

namespace eventloom {

struct CommandText {
  std::string_view name;
  std::string_view summary;
  bool parallel = false;  ///< true: the ranks share the work; false: runs as one process
};

struct NamedCommand : CommandText {
  int (*run)(int argc, const char* const* argv);
};

/// The whole of main(): runs the command that the first argument names, and reports what it throws. Returns the exit
/// code. `argv` ends with a null pointer.
int run_program(std::span<const NamedCommand> commands, int argc, char** argv);

}  // namespace eventloom
