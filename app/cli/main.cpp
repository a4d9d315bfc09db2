#include <array>

#include "app/cli/command_texts.hpp"
#include "app/cli/commands.hpp"
#include "app/command/program.hpp"

namespace {

using eventloom::NamedCommand;

constexpr std::array kCommands = {
    NamedCommand{eventloom::kRunText, eventloom::run_command},
    NamedCommand{eventloom::kGenerateText, eventloom::tools_command},
    NamedCommand{eventloom::kConvertText, eventloom::view_command},
    NamedCommand{eventloom::kInspectText, eventloom::view_command},
    NamedCommand{eventloom::kHistText, eventloom::view_command},
    NamedCommand{eventloom::kMergeText, eventloom::merge_command},
    NamedCommand{eventloom::kReportText, eventloom::view_command},
    NamedCommand{eventloom::kShowText, eventloom::view_command},
    NamedCommand{eventloom::kCompareText, eventloom::view_command},
    NamedCommand{eventloom::kAlignText, eventloom::tools_command},
    NamedCommand{eventloom::kSendText, eventloom::tools_command},
    NamedCommand{eventloom::kServeText, eventloom::tools_command},
    NamedCommand{eventloom::kRecordText, eventloom::tools_command},
    NamedCommand{eventloom::kControlText, eventloom::control_command},
    NamedCommand{eventloom::kTopText, eventloom::top_command},
    NamedCommand{eventloom::kPlanText, eventloom::tools_command},
    NamedCommand{eventloom::kSimulateText, eventloom::tools_command},
    NamedCommand{eventloom::kDoctorText, eventloom::view_command},
    NamedCommand{eventloom::kBenchText, eventloom::tools_command},
};

}  // namespace

int main(int argc, char** argv) { return eventloom::run_program(kCommands, argc, argv); }
