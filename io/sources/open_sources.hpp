#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "formats/ids.hpp"
#include "io/sources/source_uri.hpp"

namespace eventloom {

/// One source of a run, ready to be opened.
struct SourceSpec {
  SourceUri uri;
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
/// Throws UserError when one names none.
std::vector<SourceSpec> expand_sources(std::span<const std::string> uris);

/// Throws UserError when it cannot be opened, or is an .epochs file of another clock than asked for.
std::unique_ptr<Source> open_source(const SourceSpec& spec, SourceId id, const TimeBaseOptions& options);

}  // namespace eventloom
