#pragma once

#include "app/command/program.hpp"

/// The commands in the words of --help, for the program that has one and for `eventloom`, which becomes it.
namespace eventloom {

inline constexpr CommandText kRunText{"run", "build events from sources", true};
inline constexpr CommandText kGenerateText{"generate", "write recorded streams with known events"};
inline constexpr CommandText kConvertText{"convert", "any input to .epochs"};
inline constexpr CommandText kInspectText{"inspect", "show the contents of an .epochs or an output file"};
inline constexpr CommandText kHistText{"hist", "the histograms of a run, as text, table, JSON or picture"};
inline constexpr CommandText kMergeText{"merge", "part files of a run to one plain HDF5 file"};
inline constexpr CommandText kReportText{"report", "one self-contained HTML page with the plots of a run"};
inline constexpr CommandText kShowText{"show", "an event, or the contents of a run, on the terminal or as SVG"};
inline constexpr CommandText kCompareText{"compare", "which events and hits of two runs differ"};
inline constexpr CommandText kAlignText{"align", "time offsets of channels or sources from coincident hits"};
inline constexpr CommandText kSendText{"send", "replay recorded streams to live receivers, over UDP"};
inline constexpr CommandText kServeText{"serve", "an MBS server of recorded list-mode data"};
inline constexpr CommandText kRecordText{"record", "write what live sources send as files that a run can follow"};
inline constexpr CommandText kControlText{"control", "pause, resume or stop a monitored run"};
inline constexpr CommandText kTopText{"top", "watch a monitored run, once a second"};
inline constexpr CommandText kPlanText{"plan", "propose roles, rank file, rings and memory for a cluster"};
inline constexpr CommandText kSimulateText{"simulate", "the same schedules and roles over a simulated network"};
inline constexpr CommandText kDoctorText{"doctor", "check the hosts of a run for problems and suggest fixes", true};
inline constexpr CommandText kBenchText{"bench", "measure the exchange: patterns, latency, rate, scan, sources", true};

}  // namespace eventloom
