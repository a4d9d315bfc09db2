// eventloom-simulator: runs one simulation for `eventloom simulate`, in a process of its own, as SimGrid allows only
// one per process. Its input and its output are JSON; {"error": TEXT} when it fails, with the exit code.
#include <exception>
#include <iostream>
#include <string_view>

#include "app/simulate/simulation_json.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/simulation/simulate.hpp"

int main(int argc, char** argv) {
  const std::string_view check = argc > 1 ? argv[1] : "";
  try {
    const auto settings = eventloom::settings_of(nlohmann::json::parse(std::cin));
    nlohmann::json answer = nlohmann::json::object();
    if (check == "--check") {
      eventloom::check_platform(settings);
    } else {
      answer = eventloom::to_json(eventloom::simulate(settings));
    }
    std::cout << answer.dump() << std::endl;
    return eventloom::kExitOk;
  } catch (...) {
    const auto failure = eventloom::Failure::of(std::current_exception());
    const nlohmann::json answer{{"error", failure.text}};
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
    return failure.code;
  }
}
