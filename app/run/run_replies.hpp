#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "app/run/event_replies.hpp"
#include "app/run/output_settings.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"

namespace eventloom {

/// The replies of the writers on this rank.
class RunReplies {
 public:
  /// No replies.
  RunReplies() = default;
  /// Collective. Throws UserError, the same on all ranks, if any rank cannot send to an address.
  RunReplies(const ReplyOption& option, const RunSetup& setup, const Collective& ranks);

  /// Returns the replies of a writer on this rank, or null.
  [[nodiscard]] EventReplies* of(std::uint32_t writer) const;
  void add_to(Counters& counters) const;

 private:
  std::map<std::uint32_t, std::unique_ptr<EventReplies>> replies_;  ///< keyed by writer
};

}  // namespace eventloom
