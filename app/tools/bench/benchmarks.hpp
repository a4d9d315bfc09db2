#pragma once

namespace eventloom {

/// One function per benchmark, each in its own file. As for commands, `argv[0]` is the name; they return an exit code
/// and throw UserError for kExitUsage.
int bench_patterns(int argc, const char* const* argv);
int bench_scan(int argc, const char* const* argv);
int bench_latency(int argc, const char* const* argv);
int bench_rate(int argc, const char* const* argv);
int bench_clocks(int argc, const char* const* argv);
int bench_reply(int argc, const char* const* argv);
int bench_sources(int argc, const char* const* argv);

}  // namespace eventloom
