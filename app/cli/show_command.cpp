#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <string>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/view/show/event_svg.hpp"
#include "app/view/show/event_text.hpp"
#include "app/view/show/summary_text.hpp"
#include "core/definitions/run_ticks.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

/// Upper limit of hits to draw, which bounds the memory.
constexpr std::uint64_t kMostHitsShown = 1'000'000;

CommandLine show_command_line() {
  CommandLine line("show",
                   "show RUN_FILE --event N | --time T | --largest | --summary [options]\n"
                   "Shows an event on the terminal, or as SVG: its hits over time. With --summary what the run holds:\n"
                   "multiplicity, duration, time between events, rates of sources and channels. Reads run.h5 with its\n"
                   "parts, a merged file, or the finished parts of a run that was stopped.");
  add_option_rows(
      line.options(),
      {{"run", text_value("RUN_FILE"), "run.h5, whose parts are in the same folder, or a merged file"},
       {"event", text_value("N"), "the event of this number, from 0, in the order of time"},
       {"time", text_value("T"),
        "the event at this time, or the nearest: ticks since the start of the run, or with a unit (ps ns us ms s)"},
       {"largest", po::bool_switch(), "the event with most hits; the first of several"},
       {"summary", po::bool_switch(), "histograms instead of an event"},
       {"by", text_value("WHAT", "auto"), "rows of the picture: source, channel, or auto: source if there are several"},
       {"svg", text_value("FILE"),
        "draw the event to FILE instead: coloured by the groups of --detector, or by source, the first payload word as "
        "size, beside it the positions of the hits; replaces only such a file"}});
  line.positional("run", 1);
  return line;
}

/// The requested event; if no member is set, the summary.
struct Wanted {
  std::optional<std::uint64_t> number;
  std::optional<std::string> time;
  bool largest = false;
};

Wanted wanted_of(const po::variables_map& values) {
  Wanted wanted;
  if (values.count("event") != 0)
    wanted.number = count_option(values, "event", 0, std::numeric_limits<std::uint64_t>::max());
  if (values.count("time") != 0) wanted.time = values["time"].as<std::string>();
  wanted.largest = values["largest"].as<bool>();
  const bool summary = values["summary"].as<bool>();
  if (int{wanted.number.has_value()} + int{wanted.time.has_value()} + int{wanted.largest} + int{summary} != 1) {
    throw UserError("give one of --event N, --time T, --largest and --summary; see 'eventloom show --help'");
  }
  if (summary && values.count("svg") != 0) throw UserError("--svg draws an event; --summary is text only");
  return wanted;
}

struct FoundEvent {
  EventPlace place;
  std::uint64_t number = 0;
};

/// Passes each event as (time, duration, hits), in time order, until `look` returns false.
template <class Look>
void look_at_events(const RunTables& run, Look look) {
  std::uint64_t number = 0;
  scan_events(run, [&](const EventRows& rows) {
    for (std::size_t i = 0; i < rows.time.size(); ++i, ++number) {
      const FoundEvent here{{rows.first.part, rows.first.row + i}, number};
      if (!look(here, rows.time[i], rows.duration[i], rows.n_hits[i])) return false;
    }
    return true;
  });
}

FoundEvent event_of_number(const RunTables& run, std::uint64_t number) {
  if (number >= run.events()) {
    throw UserError("--event " + std::to_string(number) + ": the run has " + std::to_string(run.events()) +
                    " events, numbered from 0 to " + std::to_string(run.events() - 1));
  }
  FoundEvent found;
  look_at_events(run, [&](const FoundEvent& here, Tick, Tick, std::uint32_t) {
    found = here;
    return here.number < number;
  });
  return found;
}

FoundEvent largest_event(const RunTables& run) {
  FoundEvent found;
  std::uint32_t most = 0;
  look_at_events(run, [&](const FoundEvent& here, Tick, Tick, std::uint32_t hits) {
    if (hits > most) found = here;
    most = std::max(most, hits);
    return true;
  });
  return found;
}

/// Returns the event whose first or last hit is closest in time. The distance of an event that spans `at` is 0.
FoundEvent event_at(const RunTables& run, Tick at) {
  FoundEvent found;
  Tick nearest = std::numeric_limits<Tick>::max();
  look_at_events(run, [&](const FoundEvent& here, Tick time, Tick duration, std::uint32_t) {
    const Tick away = at < time ? time - at : at - time <= duration ? 0 : at - time - duration;
    if (away < nearest) {
      nearest = away;
      found = here;
    }
    return nearest != 0 && time <= at;
  });
  if (nearest != 0) std::cerr << "eventloom show: no event is at that time; this is the nearest\n";
  return found;
}

FoundEvent find_event(const RunTables& run, const Wanted& wanted) {
  if (run.events() == 0) throw UserError("the run has no events; --summary shows what it has");
  if (wanted.number) return event_of_number(run, *wanted.number);
  if (wanted.largest) return largest_event(run);
  RunTicks ticks(run.record.base.tick_ps);
  ticks.numbered = run.record.numbered;
  return event_at(run, parsed("time", [&] { return parse_length(*wanted.time, ticks); }));
}

ShowRows rows_of(const std::string& by, const OutputEvent& event) {
  if (by == "source") return ShowRows::sources;
  if (by == "channel") return ShowRows::channels;
  if (by != "auto") throw UserError("--by " + by + ": expected source, channel or auto");
  const bool several =
      std::ranges::any_of(event.hits, [&](const auto& hit) { return hit.source != event.hits[0].source; });
  return several ? ShowRows::sources : ShowRows::channels;
}

/// See no-color.org.
bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

bool is_event_svg(const std::filesystem::path& file) {
  const std::string_view begin = kSvgBegin;
  return head_of(file, begin.size()) == begin;
}

void plan_svg(const po::variables_map& values, const RunTables& run, const std::filesystem::path& run_file) {
  if (values.count("svg") == 0) return;
  FilePlan plan;
  plan_config(plan, values);
  plan.read(run_file, "the run");
  for (const auto& part : run.parts) plan.read(run.folder / part.name, "the run");
  plan.write(values["svg"].as<std::string>(), "--svg", is_event_svg, FilePlan::Existing::replace);
  plan.check();
}

void show_event(const po::variables_map& values, const RunTables& run, const Wanted& wanted) {
  const auto found = find_event(run, wanted);
  verify_parts(run, {found.place.part});
  EventView view{&run.record, read_event(run, found.place, kMostHitsShown), found.number, run.events()};
  view.rows = rows_of(values["by"].as<std::string>(), view.event);
  view.known = KnownChannels(run.record.detector);
  view.numbers = PayloadNumbers(run.record);
  if (values.count("svg") == 0) {
    print_event(std::cout, view, wants_colour());
    return;
  }
  const auto& svg = values["svg"].as<std::string>();
  write_text_file(svg, event_svg(view), is_event_svg);
  std::cout << "event " << found.number << ": " << svg << '\n';
}

}  // namespace

int show_command(int argc, const char* const* argv) {
  auto line = show_command_line();
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  if (values->count("run") == 0) throw UserError("no run file given; see 'eventloom show --help'");
  const auto wanted = wanted_of(*values);
  const std::filesystem::path run_file = (*values)["run"].as<std::string>();
  const auto run = open_run_tables(run_file);
  plan_svg(*values, run, run_file);
  if ((*values)["summary"].as<bool>()) {
    print_run_summary(std::cout, run, summarise_run(run));
  } else {
    show_event(*values, run, wanted);
  }
  return kExitOk;
}

}  // namespace eventloom
