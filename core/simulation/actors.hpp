#pragma once

#include <simgrid/s4u.hpp>
#include <string>

namespace eventloom {

template <class Engine, class Code>
void start_actor_of(Engine& engine, const std::string& name, simgrid::s4u::Host* host, Code code) {
  if constexpr (requires { engine.add_actor(name, host, code); }) {
    engine.add_actor(name, host, code);
  } else {
    simgrid::s4u::Actor::create(name, host, code);
  }
}

/// Starts an actor. Engine::add_actor() of SimGrid 4 replaces Actor::create() of earlier versions.
template <class Code>
void start_actor(const std::string& name, simgrid::s4u::Host* host, Code code) {
  start_actor_of(*simgrid::s4u::Engine::get_instance(), name, host, code);
}

}  // namespace eventloom
