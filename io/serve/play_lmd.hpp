#pragma once

#include "io/serve/event_player.hpp"

namespace eventloom {

/// Plays list-mode data unchanged, with the keys of LmdTime that determine when events are played.
std::unique_ptr<EventPlayer> play_lmd(const SourceUri& uri);

}  // namespace eventloom
