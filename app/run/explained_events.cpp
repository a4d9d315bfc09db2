#include "app/run/explained_events.hpp"

#include <iterator>
#include <utility>

#include "app/command/safe_text.hpp"
#include "core/runtime/format.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

void ExplainedEvents::add(const BuiltSlice& slice) {
  EventWalk walk(slice);
  for (EventHits event; walk.next(event);) {
    if (slice.events.owned[event.number] != 0 && wants(event.time)) add(event.time, explain(event));
  }
}

void ExplainedEvents::add(Tick time, std::string text) {
  texts_.emplace(time, std::move(text));
  if (texts_.size() > most_) texts_.erase(std::prev(texts_.end()));
}

std::string ExplainedEvents::explain(const EventHits& event) const {
  const auto& measure = filter_->measure();
  std::string terms;
  bool accepted = true;
  for (const auto& expression : filter_->expressions()) {
    const bool holds = measure.holds(expression, event);
    accepted = accepted && holds;
    terms += fmt::format("  {}: {}\n", for_terminal(expression.text()), holds ? "holds" : "does not hold");
    for (const auto& term : expression.terms()) {
      terms += fmt::format("    {}: {} ({})\n", for_terminal(term.text), measure.holds(term, event) ? "yes" : "no",
                           value_text(term, event));
    }
  }
  const auto time = tick_ps_ == 0 ? "" : fmt::format(" ({})", duration_text(event.time, tick_ps_));
  const auto n = event.times.size();
  return fmt::format("event {}{}, {} hit{}: {}\n{}", event.time.value, time, n, n == 1 ? "" : "s",
                     accepted ? "accepted" : "rejected", terms);
}

std::string ExplainedEvents::value_text(const Term& term, const EventHits& event) const {
  const auto value = filter_->measure().value(term.quantity, event);
  if (!value) return term.subject + " is not known";
  if (term.quantity.kind == Quantity::Kind::prescale)
    return fmt::format("hash of its time modulo {} = {}", term.quantity.low, *value);
  if (term.quantity.is_real()) return fmt::format("{} = {}", for_terminal(term.subject), real_of(*value));
  const bool is_time = term.quantity.kind == Quantity::Kind::duration && tick_ps_ != 0;
  return fmt::format("{} = {}", for_terminal(term.subject),
                     is_time ? duration_text(Tick(*value), tick_ps_) : std::to_string(*value));
}

}  // namespace eventloom
