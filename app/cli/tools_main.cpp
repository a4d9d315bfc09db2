#include <array>

#include "app/cli/command_texts.hpp"
#include "app/cli/commands.hpp"
#include "app/command/program.hpp"

// eventloom-tools: the commands around runs. No run needs it; `eventloom` starts it.

namespace {

using eventloom::NamedCommand;

constexpr std::array kCommands = {
    NamedCommand{eventloom::kGenerateText, eventloom::generate_command},
    NamedCommand{eventloom::kAlignText, eventloom::align_command},
    NamedCommand{eventloom::kSendText, eventloom::send_command},
    NamedCommand{eventloom::kServeText, eventloom::serve_command},
    NamedCommand{eventloom::kRecordText, eventloom::record_command},
    NamedCommand{eventloom::kPlanText, eventloom::plan_command},
    NamedCommand{eventloom::kSimulateText, eventloom::simulate_command},
    NamedCommand{eventloom::kBenchText, eventloom::bench_command},
};

}  // namespace

int main(int argc, char** argv) { return eventloom::run_program(kCommands, argc, argv); }
