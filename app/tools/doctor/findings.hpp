#pragma once

#include <optional>
#include <string>
#include <vector>

namespace eventloom {

/// A severity reported by `eventloom doctor`.
enum class FindingLevel {
  ok,
  note,     ///< may matter for some runs
  warning,  ///< impairs a run
};

/// Divisor that converts bytes to MiB.
inline constexpr double kMebibyte = 1 << 20;

struct Measured {
  double least = 0;  ///< extremes over all hosts
  double most = 0;
  std::string unit;
};

/// A result of one check. Every member has a default, so that an initialiser may name any subset.
struct Finding {
  std::string subject = {};
  FindingLevel level = FindingLevel::ok;
  std::string what = {};                  ///< contains {} where `measured` is inserted
  std::string meaning = {};               ///< consequence for a run; may be empty if the level is ok
  std::string fix = {};                   ///< a command that fixes it, or empty
  std::optional<Measured> measured = {};  ///< numbers that differ from host to host
  std::vector<std::string> hosts = {};    ///< affected hosts
};

/// Returns "ok", "note" or "warning".
std::string name_of(FindingLevel level);

/// Returns `what` with the measured numbers inserted.
std::string what_text(const Finding& finding);

/// Merges the findings of several hosts that differ only in the measured numbers. Subjects keep the order of their
/// first occurrence.
std::vector<Finding> merged(const std::vector<Finding>& findings);

/// Returns the exit code of the command: 3 if there are warnings.
int exit_code_of(const std::vector<Finding>& findings);

}  // namespace eventloom
