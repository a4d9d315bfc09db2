#include "io/trb/trb_feed.hpp"

#include <optional>
#include <string>
#include <utility>

#include "core/runtime/format.hpp"
#include "io/live/encoded_feed.hpp"
#include "io/recorded/shifted_reader.hpp"
#include "io/recorded/wrapping_numbers.hpp"
#include "io/trb/trb_options.hpp"
#include "io/trb/trb_reader.hpp"

namespace eventloom {

std::unique_ptr<LiveFeed> open_trb(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings) {
  auto options = parse_trb_options(uri, id, base);
  const auto offset = StreamShift(uri, options.header).offset();
  const Tick range(std::uint64_t{1} << options.bits);
  auto owner = std::make_unique<TrbReader>(uri.path(), std::move(options), settings.buffer_bytes);
  auto* const reader = owner.get();
  const auto ticks = base.epoch_ticks;
  ReaderControl control{
      .stop = [=] { reader->stop(); },
      .is_connected = [=] { return reader->is_connected(); },
      .unheard = [=](const Counters& counters) -> std::optional<std::string> {
        if (reader->heard()) return std::nullopt;
        return fmt::format("{} datagrams that are damaged or not of a TRB board came to its port",
                           counters[Metric::malformed]);
      },
      .begin_at = [=](Epoch epoch) { reader->begin_at(number_at(epoch, ticks, offset)); },
      .others_at = [=](Epoch epoch) { reader->others_at(number_at(epoch, ticks, offset)); },
      .wraps_after = epoch_of(range, ticks),
  };
  return std::make_unique<EncodedFeed>(shifted(std::move(owner), uri), std::move(control),
                                       ReorderLimits{kReorderNumbered}, settings.buffer_bytes);
}

}  // namespace eventloom
