// eventloom-simulator: runs one simulation for `eventloom simulate`, in a process of its own, as SimGrid allows only
// one per process. Its input and its output are JSON; {"error": TEXT} when it fails, with the exit code.
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "app/simulate/simulation_json.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/simulation/simulate.hpp"

namespace {

struct Answer {
  int code = eventloom::kExitOk;
  std::string text;
};

Answer answer_to(std::istream& question, bool only_check) {
  try {
    const auto settings = eventloom::settings_of(nlohmann::json::parse(question));
    if (!only_check) return {.text = eventloom::to_json(eventloom::simulate(settings)).dump()};
    eventloom::check_platform(settings);
    return {.text = "{}"};
  } catch (...) {
    const auto failure = eventloom::Failure::of(std::current_exception());
    const nlohmann::json error{{"error", failure.text}};
    return {failure.code, error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto answer = answer_to(std::cin, argc > 1 && argv[1] == std::string_view("--check"));
    std::cout << answer.text << std::endl;
    return answer.code;
  } catch (...) {  // no memory, not even for the answer
    return eventloom::kExitProgram;
  }
}
