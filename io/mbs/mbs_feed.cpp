#include "io/mbs/mbs_feed.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/live/encoded_feed.hpp"
#include "io/lmd/lmd_hit_blocks.hpp"
#include "io/mbs/mbs_reader.hpp"
#include "io/recorded/shifted_reader.hpp"
#include "io/recorded/wrapping_numbers.hpp"

namespace eventloom {

namespace {

EraRule era_rule(const SourceUri& uri, const LmdTime& time) {
  const auto text = uri.get("era", "");
  if (!text.empty() && !time.numbered()) {
    uri.refuse("era= is valid only where times are event numbers");
  }
  if (text.empty() || text == "auto") return EraRule::automatic;
  if (text == "repeat") return EraRule::repeats;
  if (text == "new") return EraRule::new_era;
  uri.refuse("era=" + text + " is not known; use auto, repeat or new");
}

}  // namespace

std::unique_ptr<LiveFeed> open_mbs(const SourceUri& uri, SourceId id, const TimeBase& base,
                                   const LiveInputSettings& settings) {
  const LmdTime time(uri.with("skip-bad", "yes"), base.tick_ps);  // no stamp of a server ends the run
  const ReorderLimits reorder{
      uri.get_count("reorder", time.numbered() ? kReorderNumbered : kReorderStamped, 1, kMaxReorderHits)};
  auto header = lmd_stream_header(uri, id, base, time);
  if (time.numbered()) {
    header.text +=
        fmt::format("A counter that restarts opens an era, whose numbers continue at the next multiple of {}.\n",
                    EventNumbers::kEraTicks.value);
  }
  const bool optional = (header.flags & kOptional) != 0;
  const bool waits = time.numbered() && !optional;
  const auto stop = std::make_shared<MbsStop>();
  auto reader = std::make_unique<MbsReader>(
      MbsAddress::of(uri), time, header, std::chrono::duration<double>(settings.reconnect_seconds),
      waits ? std::nullopt : std::optional(LiveReading().longest_wait), era_rule(uri, time), *stop);
  ReaderControl control{.stop = [stop] { stop->stop(); },
                        .is_connected = [reader = reader.get()] { return reader->is_connected(); },
                        .unheard = [](const Counters& counters) -> std::optional<std::string> {
                          if (counters[Metric::mbs_buffers] != 0) return std::nullopt;
                          return "not even an empty buffer came from the server";
                        }};
  const auto offset = StreamShift(uri, header).offset();
  if (optional) {
    control.others_at = [reader = reader.get(), ticks = base.epoch_ticks, offset](Epoch epoch) {
      reader->others_at(number_at(epoch, ticks, offset));
    };
  }
  if (time.bits() < 32) {
    control.begin_at = [reader = reader.get(), ticks = base.epoch_ticks, offset](Epoch epoch) {
      reader->begin_at(number_at(epoch, ticks, offset));
    };
    control.wraps_after = epoch_of(Tick(std::uint64_t{1} << time.bits()), base.epoch_ticks);
  }
  return std::make_unique<EncodedFeed>(shifted(std::move(reader), uri), std::move(control), reorder,
                                       settings.buffer_bytes, LiveReading{.waits_for_peer = settings.waits_for_peers});
}

}  // namespace eventloom
