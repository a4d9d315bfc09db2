#pragma once

namespace eventloom {

/// The commands, each in its own file. `argv[0]` is the command's name. They return an exit code and throw
/// UserError for kExitUsage.
int align_command(int argc, const char* const* argv);
int bench_command(int argc, const char* const* argv);
int compare_command(int argc, const char* const* argv);
int control_command(int argc, const char* const* argv);
int convert_command(int argc, const char* const* argv);
int doctor_command(int argc, const char* const* argv);
int generate_command(int argc, const char* const* argv);
int hist_command(int argc, const char* const* argv);
int inspect_command(int argc, const char* const* argv);
int merge_command(int argc, const char* const* argv);
int plan_command(int argc, const char* const* argv);
int record_command(int argc, const char* const* argv);
int report_command(int argc, const char* const* argv);
int run_command(int argc, const char* const* argv);
int send_command(int argc, const char* const* argv);
int serve_command(int argc, const char* const* argv);
int show_command(int argc, const char* const* argv);
int simulate_command(int argc, const char* const* argv);
/// Replaces this process by eventloom-tools, which has align, bench, generate, plan, record, send, serve and simulate.
/// Builds it first where it is missing in a build folder.
int tools_command(int argc, const char* const* argv);
int top_command(int argc, const char* const* argv);
/// The same for eventloom-view, which has compare, convert, doctor, hist, inspect, report and show.
int view_command(int argc, const char* const* argv);

}  // namespace eventloom
