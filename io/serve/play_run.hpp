#pragma once

#include "io/serve/event_player.hpp"

namespace eventloom {

/// Plays the events of a finished run or of a merged file, as `merge --to lmd:` writes them.
std::unique_ptr<EventPlayer> play_run(const SourceUri& uri);

}  // namespace eventloom
