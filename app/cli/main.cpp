#include <array>

#include "app/cli/commands.hpp"
#include "app/command/program.hpp"

namespace {

using eventloom::NamedCommand;

constexpr std::array kCommands = {
    NamedCommand{"run", "build events from sources", eventloom::run_command, true},
    NamedCommand{"generate", "write recorded streams with known events", eventloom::tools_command},
    NamedCommand{"convert", "any input to .epochs", eventloom::convert_command},
    NamedCommand{"inspect", "show the contents of an .epochs or an output file", eventloom::inspect_command},
    NamedCommand{"hist", "the histograms of a run, as text, table, JSON or picture", eventloom::hist_command},
    NamedCommand{"merge", "part files of a run to one plain HDF5 file", eventloom::merge_command},
    NamedCommand{"report", "one self-contained HTML page with the plots of a run", eventloom::report_command},
    NamedCommand{"show", "an event, or the contents of a run, on the terminal or as SVG", eventloom::show_command},
    NamedCommand{"compare", "which events and hits of two runs differ", eventloom::compare_command},
    NamedCommand{"align", "time offsets of channels or sources from coincident hits", eventloom::tools_command},
    NamedCommand{"send", "replay recorded streams to live receivers, over UDP", eventloom::tools_command},
    NamedCommand{"serve", "an MBS server of recorded list-mode data", eventloom::tools_command},
    NamedCommand{"record", "write what live sources send as files that a run can follow", eventloom::tools_command},
    NamedCommand{"control", "pause, resume or stop a monitored run", eventloom::control_command},
    NamedCommand{"top", "watch a monitored run, once a second", eventloom::top_command},
    NamedCommand{"plan", "propose roles, rank file, rings and memory for a cluster", eventloom::tools_command},
    NamedCommand{"simulate", "the same schedules and roles over a simulated network", eventloom::tools_command},
    NamedCommand{"doctor", "check the hosts of a run for problems and suggest fixes", eventloom::doctor_command, true},
    NamedCommand{"bench", "measure the exchange: patterns, latency, rate, scan, sources", eventloom::tools_command,
                 true},
};

}  // namespace

int main(int argc, char** argv) { return eventloom::run_program(kCommands, argc, argv); }
