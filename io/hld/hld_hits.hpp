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

/// Turns events of HLD files into hits.
class HldHitMaker {
 public:
  virtual ~HldHitMaker() = default;

  /// Appends the hits of `event` and its losses, which have been reported to `complaints`. `number`: of the event,
  /// unwrapped.
  virtual void append(const HldEvent& event, Tick number, HitBlock& block, Complaints& complaints) = 0;
  [[nodiscard]] virtual PayloadTable payload() const = 0;
  /// How channel and payload are formed, for the header of the stream: lines of text.
  [[nodiscard]] virtual std::string_view rule() const = 0;

  [[nodiscard]] virtual std::uint64_t anomalies() const { return 0; }
  [[nodiscard]] virtual Counters counters() const { return {}; }
};

/// Each subevent is a hit.
std::unique_ptr<HldHitMaker> make_subevent_hits();
/// Their rule.
std::string_view hld_subevent_rule();
/// Whether the text in the header of a stream says that its hits are made by that rule, or by that of earlier versions,
/// which kept no byte order in the hits.
bool has_hld_subevents(std::string_view description);

/// The event and the subevent that such a hit stands for.
struct HldHit {
  std::uint32_t event_id = 0;
  std::uint32_t event_number = 0;
  std::optional<HldSubeventHeader> subevent;  ///< nothing: the event has none
  std::span<const std::byte> data;            ///< of the subevent, words in native order
};
/// What a hit of this payload stands for; nothing when that is not of the form of the rule. Its data stay in
/// `payload`. `origin` says the byte order where the hit does not.
std::optional<HldHit> read_hld_hit(std::span<const std::uint32_t> payload, const HldOrigin& origin);

/// Each time of a TDC is a hit. Its time comes from `clock`, or is the event's number without one.
std::unique_ptr<HldHitMaker> make_tdc_hits(TdcAddresses addresses, std::optional<TdcClock> clock);

}  // namespace eventloom
