#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/registry/open_sources.hpp"

/// Checked option values. All functions throw UserError, which names the option.
namespace eventloom {

/// Runs a parser of formats/units.hpp and adds the option's name to its error message.
template <class Parse>
auto parsed(const char* option, Parse parse) {
  try {
    return parse();
  } catch (const std::invalid_argument& e) {
    throw UserError("--" + std::string(option) + ": " + e.what());
  }
}

template <class T>
T in_range(const char* option, T value, T low, T high) {
  if (value >= low && value <= high) return value;
  throw UserError("--" + std::string(option) + " must be from " + std::to_string(low) + " to " + std::to_string(high) +
                  ", not " + std::to_string(value));
}

/// An option that takes a value, or a switch, as listed by --help.
struct OptionRow {
  const char* name;
  const boost::program_options::value_semantic* value;  ///< owned by the options that the row is added to
  const char* help;
};
void add_option_rows(boost::program_options::options_description& options, std::initializer_list<OptionRow> rows);

/// Creates a text option for options_description. `name`: placeholder for the value in --help; `value`: default;
/// `shown`: the default as displayed in --help.
boost::program_options::typed_value<std::string>* text_value(const char* name, const char* value, const char* shown);
boost::program_options::typed_value<std::string>* text_value(const char* name, const char* value);
/// Creates a text option without a default.
boost::program_options::typed_value<std::string>* text_value(const char* name);
/// Creates a repeatable text option.
boost::program_options::typed_value<std::vector<std::string>>* list_value(const char* name);

/// Parses a count such as "1000" or "1e6".
std::uint64_t count_option(const boost::program_options::variables_map& values, const char* option, std::uint64_t low,
                           std::uint64_t high);

/// Parses a number of bytes such as "64KiB".
std::uint64_t bytes_option(const boost::program_options::variables_map& values, const char* option, std::uint64_t low,
                           std::uint64_t high);

/// Splits the comma-separated words of an option.
std::vector<std::string> words_of(const std::string& list);

/// Parse comma-separated byte sizes or counts. UserError names the option.
std::vector<std::uint64_t> sizes_option(const boost::program_options::variables_map& values, const char* option,
                                        std::uint64_t low, std::uint64_t high);
std::vector<std::uint64_t> counts_option(const boost::program_options::variables_map& values, const char* option,
                                         std::uint64_t low, std::uint64_t high);

/// Parses a duration with a unit; 0 if the option's text is empty.
std::chrono::nanoseconds duration_option(const boost::program_options::variables_map& values, const char* option);

/// Parses the length of an epoch to ticks: an integer from 1 to kMaxEpochTicks.
std::uint32_t parse_epoch_length(const std::string& text, std::uint64_t tick_ps);

/// Returns the options `tick` and `epoch`, if given.
TimeBaseOptions time_base_options(const boost::program_options::variables_map& values);

/// Returns the option `slot` in nanoseconds; 0 if not given.
std::uint64_t slot_option(const boost::program_options::variables_map& values);

/// Refuses a schedule that is invalid for any number of sources and builders.
void check_schedule(const std::string& name, std::uint64_t slot_ns);

}  // namespace eventloom
