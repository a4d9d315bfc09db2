#include "app/view/inspect/find_event.hpp"

#include "app/command/command_line.hpp"
#include "app/command/safe_text.hpp"
#include "app/view/inspect/shown_events.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/recorded/stored_reader.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

namespace {

/// Shows the event if the source has it. Returns whether the data read until then are damaged.
bool show_from(std::unique_ptr<Source> source, Tick number, ShownEvents& events) {
  const auto name = for_terminal(source->name());
  if ((source->header().flags & kNumbered) == 0) {
    throw UserError("--find: the times of '" + name + "' are not event numbers");
  }
  events.begin(source->header());
  StoredReader reader(std::move(source));
  HitBlock block;
  bool damaged = false;
  while (reader.read(block)) {
    damaged = damaged || !block.losses.empty();
    for (std::size_t i = 0; i < block.size() && block.time[i] <= number; ++i) {
      events.add(block.time[i], block.channel[i], block.payload_of(i));
    }
    if (block.size() != 0 && block.time.back() > number) break;
  }
  events.complete();
  return damaged;
}

}  // namespace

int show_recorded_event(std::span<const SourceSpec> specs, Tick number, bool hex, const TimeBaseOptions& base,
                        std::ostream& out) {
  bool found = false;
  bool damaged = false;
  for (std::size_t s = 0; s < specs.size(); ++s) {
    const ShownEvents::Style style{.numbered = true,
                                   .hex = hex,
                                   .name = specs.size() > 1 ? for_terminal(specs[s].uri.text()) : "",
                                   .only = number};
    ShownEvents events(&out, style);
    damaged = show_from(open_source(specs[s], {static_cast<std::uint16_t>(s)}, base), number, events) || damaged;
    found = found || events.found();
  }
  if (!found) throw UserError(fmt::format("--find: no event has the number {}", number.value));
  return damaged ? kExitLosses : kExitOk;
}

}  // namespace eventloom
