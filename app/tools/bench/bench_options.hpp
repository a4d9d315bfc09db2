#pragma once

#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/control/agreement.hpp"

namespace eventloom {

/// Collective. Returns the settings that `read` derives from the options. If an option is wrong, all ranks refuse it
/// together, in one line.
template <class Read>
auto agreed(const Collective& ranks, const Read& read) {
  std::optional<decltype(read())> settings;
  agree(ranks, [&] { settings.emplace(read()); });
  return *std::move(settings);
}

/// The words of a list. Throws UserError if there are none.
std::vector<std::string> listed_words(const boost::program_options::variables_map& values, const char* option);

/// The words of a list, each once, in the order of their first occurrences.
std::vector<std::string> distinct_words(const boost::program_options::variables_map& values, const char* option);

/// `word`, a length of time with a unit, in nanoseconds. Throws UserError unless it is a whole number of them in this
/// range.
std::int64_t nanoseconds_of(const char* option, const std::string& word, std::int64_t low, std::int64_t high);

}  // namespace eventloom
