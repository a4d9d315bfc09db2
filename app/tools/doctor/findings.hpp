#pragma once

#include <optional>
#include <string>
#include <vector>

namespace eventloom {

/// What `eventloom doctor` finds.
enum class FindingLevel {
  ok,
  note,     ///< may matter for some runs
  warning,  ///< holds a run back
};

/// Bytes in the unit of what is measured.
inline constexpr double kMebibyte = 1 << 20;

struct Measured {
  double least = 0;  ///< of all hosts
  double most = 0;
  std::string unit;
};

/// Its parts can be named in any selection; the others stay empty.
struct Finding {
  std::string subject = {};
  FindingLevel level = FindingLevel::ok;
  std::string what = {};                  ///< with {} where `measured` belongs
  std::string meaning = {};               ///< for a run; may be empty where all is well
  std::string mend = {};                  ///< a command, or empty
  std::optional<Measured> measured = {};  ///< numbers that differ from host to host
  std::vector<std::string> hosts = {};    ///< where it was found
};

/// "ok", "note", "warning".
std::string name_of(FindingLevel level);

/// `what` with the measured numbers.
std::string what_text(const Finding& finding);

/// Findings of several hosts that differ only in what was measured become one; in the order of the first of each
/// subject.
std::vector<Finding> merged(const std::vector<Finding>& findings);

/// Of the command: 3 when there are warnings.
int exit_code_of(const std::vector<Finding>& findings);

}  // namespace eventloom
