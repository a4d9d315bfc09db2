#include <array>

#include "app/cli/commands.hpp"
#include "app/command/program.hpp"

// eventloom-tools: the commands around runs. No run needs it; `eventloom` starts it.

namespace {

using eventloom::NamedCommand;

constexpr std::array kCommands = {
    NamedCommand{"generate", "write recorded streams with known events", eventloom::generate_command},
    NamedCommand{"align", "time offsets of channels or sources from coincident hits", eventloom::align_command},
    NamedCommand{"send", "replay recorded streams to live receivers, over UDP", eventloom::send_command},
    NamedCommand{"serve", "an MBS server of recorded list-mode data", eventloom::serve_command},
    NamedCommand{"record", "write what live sources send as files that a run can follow", eventloom::record_command},
    NamedCommand{"plan", "propose roles, rank file, rings and memory for a cluster", eventloom::plan_command},
    NamedCommand{"simulate", "the same schedules and roles over a simulated network", eventloom::simulate_command},
    NamedCommand{"bench", "measure the exchange: patterns, latency, rate, scan, sources", eventloom::bench_command,
                 true},
};

}  // namespace

int main(int argc, char** argv) { return eventloom::run_program(kCommands, argc, argv); }
