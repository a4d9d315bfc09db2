#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/markers.hpp"
#include "io/hld/hld_file.hpp"
#include "io/hld/hld_origin.hpp"
#include "io/hld/trb_tdc.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Channel of the hit that represents an event without subevents.
inline constexpr std::uint32_t kHldNoSubevent = kValueMask;

/// Converts events of HLD files to hits.
class HldHitMaker {
 public:
  virtual ~HldHitMaker() = default;

  /// Appends the hits and losses of `event`, and reports the losses to `defect_log`. `number`: the unwrapped event
  /// number.
  virtual void append(const HldEvent& event, Tick number, HitBlock& block, DefectLog& defect_log) = 0;
  [[nodiscard]] virtual PayloadTable payload() const = 0;
  /// Lines for the stream header that describe how channel and payload are formed.
  [[nodiscard]] virtual std::string_view rule() const = 0;

  /// See HitReader::counter().
  [[nodiscard]] virtual ClockTurns* counter() { return nullptr; }
  [[nodiscard]] virtual std::uint64_t anomalies() const { return 0; }
  [[nodiscard]] virtual Counters counters() const { return {}; }
};

/// Makes a hit of each subevent.
std::unique_ptr<HldHitMaker> make_subevent_hits();
/// The rule() of make_subevent_hits().
std::string_view hld_subevent_rule();
/// Whether the text of a stream header states that its hits follow that rule, or the rule of earlier versions, whose
/// hits do not record the byte order.
bool has_hld_subevents(std::string_view description);

/// The event and subevent that such a hit represents.
struct HldHit {
  std::uint32_t event_id = 0;
  std::uint32_t event_number = 0;
  std::optional<HldSubeventHeader> subevent;  ///< std::nullopt: the event has no subevents
  std::span<const std::byte> data;            ///< data of the subevent, words in native order
};
/// Parses a payload; std::nullopt if it does not follow the rule. The result refers to the data in `payload`. `origin`
/// supplies the byte order if the hit does not record it.
std::optional<HldHit> read_hld_hit(std::span<const std::uint32_t> payload, const HldOrigin& origin);

/// Makes a hit of each time word of a TDC. Hit times come from `clock`, or are the event number if there is no clock.
std::unique_ptr<HldHitMaker> make_tdc_hits(TdcAddresses addresses, const std::optional<TdcClock>& clock);

}  // namespace eventloom
