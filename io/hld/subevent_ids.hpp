#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "io/hld/hld_file.hpp"

namespace eventloom {

/// Subevent ids of the last kept event. They identify an incomplete copy of an event.
class SubeventIds {
 public:
  void remember(const HldEvent& event) {
    known_ = true;
    ids_.clear();
    for (const auto& subevent : event.subevents) ids_.push_back(subevent.id);
  }
  void reset() { known_ = false; }
  /// Whether `event` begins with all of these ids and has more.
  [[nodiscard]] bool begin(const HldEvent& event) const {
    return known_ && ids_.size() < event.subevents.size() &&
           std::ranges::equal(ids_, std::span(event.subevents).first(ids_.size()), {}, {}, &HldSubevent::id);
  }

 private:
  bool known_ = false;
  std::vector<std::uint32_t> ids_;
};

}  // namespace eventloom
