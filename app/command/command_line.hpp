#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace eventloom {

/// The command line of one command: its own options plus `--help`, `--config FILE` (an INI file with the options' long
/// names; the command line takes precedence) and `--print-config`, which prints the full setup as such a file.
class CommandLine {
 public:
  /// `synopsis`: the text after "usage: eventloom ", and a line that describes the command.
  CommandLine(std::string command, std::string synopsis);

  /// Add options here; descriptions name the unit. Defaults are shown automatically.
  boost::program_options::options_description& options() { return options_; }
  /// Positional arguments become values of the option `name`, at most `max` of them (-1: any number).
  void positional(const char* name, int max) { positional_.add(name, max); }

  /// Excludes an option that applies to this invocation only from the setup.
  void leave_out_of_setup(const std::string& name) { left_out_.insert(name); }

  /// Returns the INI text of a file of --config that is not an INI file itself; std::nullopt: it is one. `given`:
  /// options on the command line.
  using ConfigReader =
      std::function<std::optional<std::string>(const std::string& path, const std::set<std::string>& given)>;
  void also_read_config(ConfigReader reader) { read_config_ = std::move(reader); }

  /// Adds derived values at the end of --print-config, as comment lines of the INI file.
  using Remark = std::function<std::string(const boost::program_options::variables_map&)>;
  void remark(Remark remark) { remark_ = std::move(remark); }

  /// Returns std::nullopt if --help or --print-config was given and its output has been printed. Throws UserError on
  /// bad usage. `argv` begins after the program's name: argv[0] is the command.
  std::optional<boost::program_options::variables_map> parse(int argc, const char* const* argv);

  /// Returns the full setup as an INI file, including defaults.
  [[nodiscard]] std::string effective_config(const boost::program_options::variables_map& values) const;

 private:
  [[nodiscard]] std::string guess(const std::string& given) const;
  [[nodiscard]] std::string config_text(const std::string& path,
                                        const boost::program_options::parsed_options& given) const;

  std::string command_;
  std::string synopsis_;
  boost::program_options::options_description options_;
  boost::program_options::positional_options_description positional_;
  std::set<std::string> left_out_;
  Remark remark_;
  ConfigReader read_config_;
};

}  // namespace eventloom
