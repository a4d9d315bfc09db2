#include "app/observe/refusal_log.hpp"

#include <spdlog/spdlog.h>

namespace eventloom {

void RefusalLog::say(const std::string& reason, const std::string& from, Time now) {
  if (refused_ == 0 || now - since_ >= kStretch) {
    since_ = now;
    refused_ = 0;
  }
  if (++refused_ > kMost) return;
  spdlog::warn("a command from {} was refused: {}{}", from, reason,
               refused_ == kMost ? "; further messages of this kind are suppressed for a minute" : "");
}

}  // namespace eventloom
