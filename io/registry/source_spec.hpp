#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/recorded/time_order.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Length of an epoch, in event numbers, for sources whose times are event numbers.
inline constexpr std::uint32_t kNumbersPerEpoch = 16;

/// One source of a run, ready to be opened.
struct SourceSpec {
  SourceUri uri;
  /// Number in the run of the first source received at the same port, or of this source if it is the only one. One
  /// opener opens all sources of a port.
  std::uint32_t home = 0;
  std::uint32_t board = 0;  ///< index of the board at the port
  std::string defect = {};  ///< why the source exists but cannot be read; empty when it can
  std::string copy = {};    ///< why its data, if any, would enter the run twice; empty when they would not
  std::size_t given = 0;    ///< number of the URI that names the source, of those given
  std::uint64_t turns = 0;  ///< turn of its counter in which its first time lies
  /// First number of the counter of the next source of the same kind.
  std::optional<std::uint64_t> next_first = {};
  /// The next file of the URI that names this one, if the turns of their counter, if it turns, are not stated.
  std::optional<SourceUri> next_part = {};
  std::vector<EraPlace> eras = {};  ///< see TimeOrder::eras
  bool by_number = false;           ///< hits are matched by number: a time in plain ticks is an event number
};

/// The user's choice of clock. Importers default to TimeBase, .epochs files to their own clock.
struct TimeBaseOptions {
  std::optional<std::uint64_t> tick_ps;
  std::optional<std::uint32_t> epoch_ticks;
};

}  // namespace eventloom
