#include "app/view/compare/comparison_text.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include "app/command/safe_text.hpp"
#include "app/view/compare/different_event.hpp"
#include "app/view/show/event_text.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

void print_run(std::ostream& out, char which, const NamedRun& run, const ComparedRun& counted) {
  out << fmt::format("{}  {} events with {} hits: {}\n", which, counted.events, counted.hits,
                     for_terminal(run.path.string()));
}

void print_comparison_count(std::ostream& out, const char* what, std::uint64_t n) {
  out << fmt::format("  {:<28} {:>14}\n", what, n);
}

void print_counts(std::ostream& out, const Comparison& comparison) {
  out << "events\n";
  print_comparison_count(out, "the same", comparison.same);
  print_comparison_count(out, "only in A", comparison.only_in_a);
  print_comparison_count(out, "only in B", comparison.only_in_b);
  print_comparison_count(out, "in both, but different", comparison.different);
  for (std::size_t i = 0; i < kAspects; ++i) {
    if (comparison.by_aspect[i] == 0) continue;
    print_comparison_count(out, fmt::format("  with other {}", kAspectNames[i]).c_str(), comparison.by_aspect[i]);
  }
}

void print_ledgers(std::ostream& out, const Comparison& comparison) {
  bool any = false;
  for (const auto* counter : compared_counters()) {
    const auto of_a = comparison.a.ledger[counter->metric];
    const auto of_b = comparison.b.ledger[counter->metric];
    if (of_a == of_b) continue;
    if (!any) out << fmt::format("{:<30} {:>14} {:>14}\n", "ledgers differ", "A", "B");
    any = true;
    out << fmt::format("  {:<28} {:>14} {:>14}\n", counter->name, of_a, of_b);
  }
  if (!any) out << "the ledgers agree\n";
}

EventView view_of(const NamedRun& run, const OutputEvent& event) { return {&run.tables.record, event}; }

void print_hit(std::ostream& out, char mark, const EventView& view, const OutputHit& hit) {
  const bool valued = hit.value && !std::isnan(*hit.value);
  out << "  " << mark << ' ' << hit_row(view, hit) << (valued ? fmt::format("  value {}", *hit.value) : "") << '\n';
}

/// Hits that are in only one of the lists are placed among those in both.
void print_hit_pairs(std::ostream& out, const EventView& a, const EventView& b) {
  const auto key = [](const OutputHit& hit) { return std::tie(hit.time, hit.source); };
  const bool valued = a.record->hits.with_values && b.record->hits.with_values;
  const auto value = [valued](const OutputHit& hit) {
    return !valued || !hit.value || std::isnan(*hit.value) ? std::optional<double>() : hit.value;
  };
  const auto rest = [&](const OutputHit& hit) { return std::tuple(hit.channel, hit.payload, value(hit)); };
  auto of_a = a.event.hits.begin();
  auto of_b = b.event.hits.begin();
  while (of_a != a.event.hits.end() || of_b != b.event.hits.end()) {
    const bool no_a = of_a == a.event.hits.end() || (of_b != b.event.hits.end() && key(*of_b) < key(*of_a));
    const bool no_b = of_b == b.event.hits.end() || (of_a != a.event.hits.end() && key(*of_a) < key(*of_b));
    if (!no_a && !no_b && rest(*of_a) == rest(*of_b)) {
      print_hit(out, ' ', a, *of_a);
    } else {
      if (!no_a) print_hit(out, 'A', a, *of_a);
      if (!no_b) print_hit(out, 'B', b, *of_b);
    }
    if (!no_a) ++of_a;
    if (!no_b) ++of_b;
  }
}

void print_event_line(std::ostream& out, char which, const EventView& view) {
  const auto& event = view.event;
  out << fmt::format("  {} duration {}, {} hits, flags {}", which, view.time_text(event.duration), event.n_hits,
                     flags_text(event));
  if (event.hits.size() < event.n_hits) out << fmt::format(", shown are its first {} hits", event.hits.size());
  out << '\n';
}

std::string aspects_text(const Aspects& aspects) {
  std::string text;
  for (std::size_t i = 0; i < kAspects; ++i) {
    if (aspects[i]) text += (text.empty() ? "" : ", ") + std::string(kAspectNames[i]);
  }
  return text;
}

void print_title(std::ostream& out, const Difference& difference, const EventView& view) {
  const auto time = view.time_text(view.event.time);
  const auto ticks = view.record->numbered ? std::string() : fmt::format(" ({} ticks)", view.event.time.value);
  switch (difference.found) {
    case Found::only_in_a: out << fmt::format("\nonly in A, its event {}", difference.a.number); break;
    case Found::only_in_b: out << fmt::format("\nonly in B, its event {}", difference.b.number); break;
    case Found::in_both:
      out << fmt::format("\nin both, event {} of A and {} of B, with other {}", difference.a.number,
                         difference.b.number, aspects_text(difference.aspects));
  }
  out << ", at " << time << ticks << '\n';
}

void print_difference(std::ostream& out, const NamedRun& a, const NamedRun& b, const Difference& difference) {
  const auto events = read_different(a.tables, b.tables, difference);
  const auto of_a = view_of(a, events.a.value_or(OutputEvent()));
  const auto of_b = view_of(b, events.b.value_or(OutputEvent()));
  print_title(out, difference, events.a ? of_a : of_b);
  if (events.a) print_event_line(out, 'A', of_a);
  if (events.b) print_event_line(out, 'B', of_b);
  out << "    " << hit_heading() << '\n';
  print_hit_pairs(out, of_a, of_b);
}

}  // namespace

void print_comparison(std::ostream& out, const NamedRun& a, const NamedRun& b, const Comparison& comparison) {
  print_run(out, 'A', a, comparison.a);
  print_run(out, 'B', b, comparison.b);
  print_counts(out, comparison);
  print_ledgers(out, comparison);
  for (const auto& note : comparison.notes) out << "note: " << for_terminal(note) << '\n';
  for (const auto& difference : comparison.first) print_difference(out, a, b, difference);
  const auto found = comparison.only_in_a + comparison.only_in_b + comparison.different;
  const auto left = found - comparison.first.size();
  if (left > 0) out << fmt::format("\nand {} more events that differ; --differences N shows more\n", left);
}

}  // namespace eventloom
