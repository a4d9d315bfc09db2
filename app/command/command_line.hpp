#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace eventloom {

/// The command line of one command: its own options besides `--help`, `--config FILE` (INI, options
/// by their long names; the command line wins) and `--print-config` (the full setup as such a file).
class CommandLine {
 public:
  /// `synopsis`: the text after "usage: eventloom ", and a line on what the command does.
  CommandLine(std::string command, std::string synopsis);

  /// Add options here; descriptions name the unit. Defaults are shown automatically.
  boost::program_options::options_description& options() { return options_; }
  /// Positional arguments become values of the option `name`, at most `max` of them (-1: any number).
  void positional(const char* name, int max) { positional_.add(name, max); }

  /// An option of this invocation only: it is not part of the setup.
  void leave_out_of_setup(const std::string& name) { left_out_.insert(name); }

  /// Derived values for the end of --print-config: comment lines of an INI file.
  using Remark = std::function<std::string(const boost::program_options::variables_map&)>;
  void remark(Remark remark) { remark_ = std::move(remark); }

  /// Nothing when --help or --print-config was given and has been printed to standard output. Throws UserError on bad
  /// usage. `arguments`: those after the command.
  std::optional<boost::program_options::variables_map> parse(int argc, const char* const* argv);

  /// The full setup as an INI file, defaults included.
  [[nodiscard]] std::string effective_config(const boost::program_options::variables_map& values) const;

 private:
  [[nodiscard]] std::string guess(const std::string& given) const;

  std::string command_;
  std::string synopsis_;
  boost::program_options::options_description options_;
  boost::program_options::positional_options_description positional_;
  std::set<std::string> left_out_;
  Remark remark_;
};

}  // namespace eventloom
