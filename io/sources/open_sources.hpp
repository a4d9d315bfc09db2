#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/ids.hpp"
#include "io/live/live_opener.hpp"
#include "io/live/live_options.hpp"
#include "io/sources/source_uri.hpp"

namespace eventloom {

/// One source of a run, ready to be opened.
struct SourceSpec {
  SourceUri uri;
  /// Number in the run of the first source that is received at the same port, itself if it is alone there: they are
  /// opened by one opener.
  std::uint32_t home = 0;
  std::uint32_t board = 0;  ///< which of those at the port
  std::string defect = {};  ///< why nothing can be read from it, though it is there; empty when it can
};

/// What the user says of the clock; importers fall back on TimeBase's defaults, .epochs files on their own.
struct TimeBaseOptions {
  std::optional<std::uint64_t> tick_ps;
  std::optional<std::uint32_t> epoch_ticks;
};

/// Length of an epoch, in event numbers, of sources whose times are event numbers.
inline constexpr std::uint32_t kNumbersPerEpoch = 16;

/// The sources that `uris` name, in their order: a glob gives one per file, in the order of names
/// (bytes), or one in all with the key `concat`; an HDF5 group pattern one per group, likewise.
/// Throws UserError when one names none, two have the same data, or one is a file of which nothing can be read.
std::vector<SourceSpec> expand_sources(std::span<const std::string> uris);

/// The files that a source is read from; none of a generator or a live one.
std::vector<std::string> files_of(const SourceSpec& spec);

/// Opens sources; live ones that share a port must be opened by the same.
class SourceOpener {
 public:
  explicit SourceOpener(const TimeBaseOptions& base, LiveOptions live = {}) : base_(base), live_(std::move(live)) {}

  /// Throws UserError when it cannot be opened, or is an .epochs file of another clock than asked for.
  std::unique_ptr<Source> open(const SourceSpec& spec, SourceId id);

 private:
  TimeBaseOptions base_;
  LiveOpener live_;
};

/// A source on its own.
inline std::unique_ptr<Source> open_source(const SourceSpec& spec, SourceId id, const TimeBaseOptions& base) {
  return SourceOpener(base).open(spec, id);
}

}  // namespace eventloom
