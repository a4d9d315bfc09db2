#include "app/run/run_replies.hpp"

#include <random>

#include "app/run/hit_notes_of_run.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

RunReplies::RunReplies(const ReplyOption& option, const RunSetup& setup, const Collective& ranks) {
  const auto session = ranks.broadcast(static_cast<std::uint32_t>(std::random_device()()));
  agree(ranks, [&] {
    for (std::uint32_t writer = 0; writer < setup.roles.writers(); ++writer) {
      if (setup.roles.rank_of_writer(writer) != ranks.rank()) continue;
      const ReplyFormat format{event_batch_format(setup), writer, session, option.datagram_bytes};
      replies_[writer] = std::make_unique<EventReplies>(option.addresses, format, setup.run.reply_if);
    }
  });
  if (ranks.rank() == 0) log::info("reply: events are sent to {}", joined(option.addresses, ", "));
}

EventReplies* RunReplies::of(std::uint32_t writer) const {
  const auto found = replies_.find(writer);
  return found == replies_.end() ? nullptr : found->second.get();
}

void RunReplies::add_to(Counters& counters) const {
  for (const auto& [writer, replies] : replies_) replies->add_to(counters);
}

}  // namespace eventloom
