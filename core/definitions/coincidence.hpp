#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/definitions/hit_key.hpp"
#include "core/definitions/widened_events.hpp"
#include "core/definitions/window_counts.hpp"

namespace eventloom {

/// coincidence:W,COND[,pre,post] - each hit opens the window [t, t + W]; windows whose hits satisfy COND, widened by
/// `pre` and `post` and joined if they share a tick, are events. If terms of COND have their own windows, each accepted
/// window is extended to include them.
class Coincidence final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "coincidence:W,COND[,pre,post]";
  static constexpr std::string_view kEvent =
      "hits at most W after one of them for which COND holds, as in coincidence:50ns,A>=1&&B>=2 (see {}); "
      "windows that overlap are one event, which pre and post widen";

  static constexpr std::size_t kMinValues = 2;
  static constexpr std::size_t kMaxValues = 4;

  explicit Coincidence(const DefinitionValues& values);

  [[nodiscard]] std::string text() const override;
  [[nodiscard]] DefinitionTraits traits() const override;
  void find(const SortedHits& hits, EventList& events) const override;

 private:
  std::uint32_t find_accepted(std::span<const HitKey> keys, WindowCounts& window, std::uint32_t n,
                              std::uint32_t* begins, std::uint32_t* ends) const;
  std::uint32_t find_candidates(std::span<const HitKey> keys, std::uint32_t* candidates) const;

  [[nodiscard]] Widening around_windows() const;

  Tick window_;
  WindowPlan plan_;
  Widening widening_;
};

}  // namespace eventloom
