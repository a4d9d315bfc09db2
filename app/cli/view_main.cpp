#include <array>

#include "app/cli/command_texts.hpp"
#include "app/cli/commands.hpp"
#include "app/command/program.hpp"

// eventloom-view: the commands that look at runs, inputs and hosts. No run needs it; `eventloom` starts it.

namespace {

using eventloom::NamedCommand;

constexpr std::array kCommands = {
    NamedCommand{eventloom::kConvertText, eventloom::convert_command},
    NamedCommand{eventloom::kInspectText, eventloom::inspect_command},
    NamedCommand{eventloom::kHistText, eventloom::hist_command},
    NamedCommand{eventloom::kReportText, eventloom::report_command},
    NamedCommand{eventloom::kShowText, eventloom::show_command},
    NamedCommand{eventloom::kCompareText, eventloom::compare_command},
    NamedCommand{eventloom::kDoctorText, eventloom::doctor_command},
};

}  // namespace

int main(int argc, char** argv) { return eventloom::run_program(kCommands, argc, argv); }
