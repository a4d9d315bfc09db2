#include "io/trb/trb_options.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "core/runtime/format.hpp"
#include "io/uri/optional_source.hpp"

namespace eventloom {

namespace {

// Payload words that hold number << 8 | tag, counted from 1; see HldHitMaker.
constexpr std::uint32_t kTagOfSubevent = 8;
constexpr std::uint32_t kTagOfTime = 3;

std::unique_ptr<HldHitMaker> make_hits(const SourceUri& uri, bool tdc) {
  if (!tdc) return make_subevent_hits();
  try {
    return make_tdc_hits(TdcAddresses(uri.get("tdc", "")), std::nullopt);
  } catch (const std::invalid_argument& e) {
    uri.refuse(e.what());
  }
}

std::string header_text(const SourceUri& uri, const TrbOptions& options) {
  return fmt::format("{}\n{}{}Time: the event number of the board, {} bits, continued where it wraps around.\n",
                     uri.text(), options.maker->rule(),
                     options.tdc ? "The event number is followed by the tag, 8 bits.\n"
                                 : "The event id is 0x2001 | trigger type, the event number that of the board.\n",
                     options.bits);
}

}  // namespace

TrbOptions parse_trb_options(const SourceUri& uri, SourceId id, const TimeBase& base) {
  TrbOptions options;
  const auto bits = uri.get("bits", "24");
  if (bits != "24" && bits != "16") uri.refuse("bits=" + bits + " is not known; use bits=24 or bits=16");
  options.bits = bits == "24" ? 24 : 16;
  options.tdc = uri.get("tdc", "no") != "no";
  options.maker = make_hits(uri, options.tdc);
  const std::uint32_t flags = kNumbered | (options.tdc ? 0U : kTriggerInPayload) | optional_flag(uri, true) |
                              with_tag_word(options.tdc ? kTagOfTime : kTagOfSubevent);
  options.header = {id.value, base, options.maker->payload(), header_text(uri, options), flags};
  return options;
}

}  // namespace eventloom
