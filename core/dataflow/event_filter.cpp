#include "core/dataflow/event_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/definitions/text_mistake.hpp"
#include "core/runtime/text_error.hpp"

namespace eventloom {

namespace {

/// Moves the remaining events, hits and payload to the front of their columns, in blocks as long as possible.
class Compactor {
 public:
  explicit Compactor(BuiltSlice& slice) : events_(slice.events), hits_(slice.hits) {}

  /// Processes the next event, whose hits follow those of the previous one.
  void pass(const EventHits& event, bool keep) {
    if (!keep) move_block();
    end_ = {end_.event + 1, end_.hit + event.times.size(), end_.word + event.payload.size()};
    if (!keep) begin_ = end_;
  }

  void finish() {
    move_block();
    for_columns([this](auto& column, std::size_t Place::*row) { column.resize(to_.*row); });
  }

 private:
  /// Rows of the columns.
  struct Place {
    std::size_t event = 0;
    std::size_t hit = 0;
    std::size_t word = 0;
  };

  template <class Function>
  void for_columns(Function function) {
    function(events_.time, &Place::event);
    function(events_.duration, &Place::event);
    function(events_.n_hits, &Place::event);
    function(events_.flags, &Place::event);
    function(events_.sources_missing, &Place::event);
    function(events_.hits_in_slice, &Place::event);
    function(events_.owned, &Place::event);
    function(hits_.time, &Place::hit);
    function(hits_.channel, &Place::hit);
    function(hits_.source, &Place::hit);
    if (!hits_.payload_words.empty()) function(hits_.payload_words, &Place::hit);
    function(hits_.payload, &Place::word);
  }

  /// Moves the rows [begin_, end_), all of which remain. The caller sets begin_.
  void move_block() {
    if (begin_.event != to_.event) {
      for_columns([this](auto& column, std::size_t Place::*row) {
        const auto at = [&](const Place& place) { return column.begin() + static_cast<std::ptrdiff_t>(place.*row); };
        std::copy(at(begin_), at(end_), at(to_));
      });
    }
    to_ = {to_.event + end_.event - begin_.event, to_.hit + end_.hit - begin_.hit, to_.word + end_.word - begin_.word};
  }

  EventColumns& events_;
  HitColumns& hits_;
  Place begin_;  ///< first rows that remain but have not been moved
  Place end_;    ///< after the last event passed
  Place to_;     ///< after the events moved
};

/// Removes foreign events and those that `accepts` refuses, and completes the account.
template <class Accepts>
void keep_events(BuiltSlice& slice, Accepts accepts) {
  Compactor compactor(slice);
  EventWalk walk(slice);
  for (EventHits event; walk.next(event);) {
    const bool accepted = accepts(event);
    if (!accepted) {
      slice.ledger.hits_in_events -= slice.events.hits_in_slice[event.number];
      slice.ledger.hits_rejected += slice.events.hits_in_slice[event.number];
      slice.events_rejected += slice.events.owned[event.number];
    }
    compactor.pass(event, accepted && slice.events.owned[event.number] != 0);
  }
  compactor.finish();
}

}  // namespace

void EventFilter::add(std::string_view expression, const RunTicks& ticks) {
  try {
    expressions_.push_back(parse_expression(expression, ticks, measure_.detector()));
  } catch (const TextMistake& mistake) {
    throw TextError(name_of(setting_) + " '" + shortened(expression) + "': " + mistake.what() + "; expected " +
                        std::string(expression_usage()),
                    marked(expression, mistake.where()));
  }
}

void EventFilter::set_streams(std::vector<std::uint32_t> stream_flags, bool with_payload) {
  measure_.set_streams(std::move(stream_flags));
  for (const auto& expression : expressions_) {
    const auto refuse = [&](const char* name, const std::string& why) {
      throw TextError(name_of(setting_) + " '" + shortened(expression.text()) + "': '" + name + "' " + why,
                      marked_word(expression.text(), name));
    };
    if (expression.uses(Quantity::Kind::trigger) && !measure_.has_triggers())
      refuse("trigger", "is of triggered data, and no source of this run has trigger types; leave it out");
    if (const auto* const term = with_payload ? nullptr : expression.term_with_values(); term != nullptr)
      refuse(term->subject.c_str(), std::string(kNeedsValues));
    if (expression.uses(Quantity::Kind::causal) && !measure_.detector().has_positions())
      refuse("causal",
             "needs the positions of channels: give x_m, y_m and z_m in " + name_of(Setting::detector) + " MAP.csv");
  }
}

bool EventFilter::holds(const EventHits& event) const {
  return std::ranges::all_of(expressions_, [&](const auto& expression) { return measure_.holds(expression, event); });
}

bool EventFilter::accepts(const EventHits& event, BuiltSlice& slice) const {
  const std::uint64_t own = slice.events.owned[event.number];
  bool accepted = true;
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    if (measure_.holds(expressions_[i], event)) continue;
    slice.rejected_by[i] += own;
    accepted = false;
  }
  return accepted;
}

void EventFilter::restart(BuiltSlice& slice, std::size_t n_conditions) const {
  slice.events_rejected = 0;
  slice.rejected_by.assign(n_conditions, 0);
}

void EventFilter::select(BuiltSlice& slice) const {
  restart(slice, expressions_.size());
  if (expressions_.empty()) return keep_events(slice, [](const EventHits&) { return true; });
  keep_events(slice, [&](const EventHits& event) { return accepts(event, slice); });
}

bool EventFilter::select(BuiltSlice& slice, std::size_t kind, EventJudge& judge) const {
  restart(slice, expressions_.size() + 1);
  std::vector<std::uint8_t> asked;
  EventWalk walk(slice);
  for (EventHits event; walk.next(event);) asked.push_back(accepts(event, slice) ? 1 : 0);
  std::vector<std::uint8_t> keep(asked.size());
  if (!judge.judge(slice, kind, asked, keep)) return false;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (asked[i] != 0 && keep[i] == 0) slice.rejected_by.back() += slice.events.owned[i];
  }
  keep_events(slice, [&](const EventHits& event) { return keep[event.number] != 0; });
  return true;
}

}  // namespace eventloom
