#include "io/uri/stream_shift.hpp"

#include <algorithm>
#include <stdexcept>

#include "formats/units.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kLastSystem = 63;

/// Whether a value of `system` names a field, as in URIs of packed records, rather than a number.
bool is_field(const std::string& text) { return text.find('@') != std::string::npos; }

std::int64_t parse_shift(const SourceUri& uri, const StreamHeader& header) {
  const auto text = uri.get("offset", "0");
  const bool numbered = (header.flags & kNumbered) != 0;
  if (numbered && !text.empty() && text.find_last_of("0123456789.") != text.size() - 1) {
    uri.refuse("offset=" + text + ": event numbers have no unit of time");
  }
  try {
    return parse_offset(text, header.base.tick_ps);
  } catch (const std::invalid_argument& e) {
    uri.refuse("offset: " + std::string(e.what()));
  }
}

}  // namespace

StreamShift::StreamShift(const SourceUri& uri, const StreamHeader& header) : offset_(parse_shift(uri, header)) {
  if (!uri.has("system") || is_field(uri.get("system", ""))) return;
  system_ = static_cast<std::uint32_t>(uri.get_count("system", 0, 0, kLastSystem));
  if (!fits(header.payload)) {
    uri.refuse("system= cannot be set: the length of a hit's payload depends on its system in this stream");
  }
}

bool StreamShift::fits(const PayloadTable& payload) const {
  const bool uniform = std::ranges::all_of(payload.words, [&](auto words) { return words == payload.words.front(); });
  return !system_ || uniform;
}

}  // namespace eventloom
