#pragma once

#include "io/serve/event_player.hpp"

namespace eventloom {

/// List-mode data as they are, with those keys of LmdTime that say when events are played.
std::unique_ptr<EventPlayer> play_lmd(const SourceUri& uri);

}  // namespace eventloom
