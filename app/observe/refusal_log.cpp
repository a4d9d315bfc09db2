#include "app/observe/refusal_log.hpp"

#include "core/runtime/log.hpp"

namespace eventloom {

void RefusalLog::say(const std::string& reason, const std::string& from, Time now) {
  if (refused_.count() == 0 || now - since_ >= kStretch) {
    since_ = now;
    refused_ = MessageLimit();
  }
  if (!refused_.admit()) return;
  log::warn("a command from {} was refused: {}{}", from, reason,
            refused_.at_last("; further messages of this kind are suppressed for a minute"));
}

}  // namespace eventloom
