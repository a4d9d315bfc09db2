// eventloom-simulator: runs one simulation for `eventloom simulate`, in a separate process because SimGrid allows only
// one per process. Input and output are JSON; on failure, the output is {"error": TEXT} and the exit code is set.
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "app/command/setting_names.hpp"
#include "app/tools/simulate/simulation_json.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/simulation/platform_questions.hpp"
#include "core/simulation/simulate.hpp"

namespace {

struct Answer {
  int code = eventloom::kExitOk;
  std::string text;
};

eventloom::Json result_for(const eventloom::SimulationSettings& settings, std::string_view task) {
  if (task == "--phases") return eventloom::to_json(eventloom::phases_for(settings));
  if (task != "--check") return eventloom::to_json(eventloom::simulate(settings));
  eventloom::check_platform(settings);
  return eventloom::Json::object();
}

Answer answer_to(std::istream& question, std::string_view task) {
  try {
    const auto settings =
        eventloom::settings_of(eventloom::Json::parse(std::string(std::istreambuf_iterator<char>(question), {})));
    return {.text = result_for(settings, task).dump()};
  } catch (...) {
    const auto failure = eventloom::Failure::of(std::current_exception());
    const eventloom::Json error{{"error", failure.text}};
    return {failure.code, error.dump()};
  }
}

}  // namespace

int main(int argc, char** argv) {
  eventloom::setting_names() = eventloom::option_names();
  try {
    const auto answer = answer_to(std::cin, argc > 1 ? argv[1] : "");
    std::cout << answer.text << std::endl;
    return answer.code;
  } catch (...) {  // out of memory, even for the answer
    return eventloom::kExitProgram;
  }
}
