#pragma once

#include <cstdint>
#include <memory>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"
#include "formats/stream_file.hpp"
#include "io/hld/hld_hits.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The keys of a trb: URI.
struct TrbOptions {
  unsigned bits = 24;  ///< width of event numbers
  bool tdc = false;    ///< hits are TDC times
  std::unique_ptr<HldHitMaker> maker;
  StreamHeader header;

  [[nodiscard]] bool optional() const { return (header.flags & kOptional) != 0; }
};

/// Throws UserError when a key is invalid.
TrbOptions parse_trb_options(const SourceUri& uri, SourceId id, const TimeBase& base);

}  // namespace eventloom
