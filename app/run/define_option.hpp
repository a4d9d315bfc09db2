#pragma once

#include <string>
#include <vector>

#include "io/event_files/event_target.hpp"

namespace eventloom {

/// One --define of a run, and the run file of its events.
struct DefineOption {
  std::string name;  ///< empty where there is only one, without a name
  std::string text;  ///< what an event is
  std::string output;
  std::vector<EventTarget> also = {};  ///< list-mode files of its events, in the order of RunConfig::also

  /// As on the command line.
  [[nodiscard]] std::string given() const { return name.empty() ? text : name + "=" + text; }
};

/// `given`: the values of --define, at least one. One without a name has the run file `output`; with names the run of
/// each has a file of its own, `run.NAME.h5` for `run.h5`, which is left to their index. Throws UserError.
std::vector<DefineOption> parse_define_options(const std::vector<std::string>& given, const std::string& output);

}  // namespace eventloom
