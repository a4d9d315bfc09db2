#include "core/dataflow/event_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/definitions/text_mistake.hpp"
#include "core/runtime/text_error.hpp"

namespace eventloom {

namespace {

/// Moves the remaining events, hits and payload to the front of their columns.
class Compactor {
 public:
  explicit Compactor(BuiltSlice& slice) : events_(slice.events), hits_(slice.hits) {}

  /// Processes the next event, whose hits follow those of the previous one.
  void pass(const EventHits& event, bool keep) {
    const std::size_t n = event.times.size();
    const std::size_t words = event.payload.size();
    if (keep) {
      keep_event(event.number);
      move(hits_.time, from_hit_, to_hit_, n);
      move(hits_.channel, from_hit_, to_hit_, n);
      move(hits_.source, from_hit_, to_hit_, n);
      if (!hits_.payload_words.empty()) move(hits_.payload_words, from_hit_, to_hit_, n);
      move(hits_.payload, from_word_, to_word_, words);
      to_hit_ += n;
      to_word_ += words;
    }
    from_hit_ += n;
    from_word_ += words;
  }

  void finish() {
    events_.time.resize(to_event_);
    events_.duration.resize(to_event_);
    events_.n_hits.resize(to_event_);
    events_.flags.resize(to_event_);
    events_.sources_missing.resize(to_event_);
    events_.hits_in_slice.resize(to_event_);
    events_.owned.resize(to_event_);
    hits_.time.resize(to_hit_);
    hits_.channel.resize(to_hit_);
    hits_.source.resize(to_hit_);
    if (!hits_.payload_words.empty()) hits_.payload_words.resize(to_hit_);
    hits_.payload.resize(to_word_);
  }

 private:
  template <class T>
  static void move(std::vector<T>& column, std::size_t from, std::size_t to, std::size_t n) {
    if (from != to)
      std::copy_n(column.begin() + static_cast<std::ptrdiff_t>(from), n,
                  column.begin() + static_cast<std::ptrdiff_t>(to));
  }

  void keep_event(std::size_t event) {
    const std::size_t to = to_event_++;
    events_.time[to] = events_.time[event];
    events_.duration[to] = events_.duration[event];
    events_.n_hits[to] = events_.n_hits[event];
    events_.flags[to] = events_.flags[event];
    events_.sources_missing[to] = events_.sources_missing[event];
    events_.hits_in_slice[to] = events_.hits_in_slice[event];
    events_.owned[to] = events_.owned[event];
  }

  EventColumns& events_;
  HitColumns& hits_;
  std::size_t to_event_ = 0;
  std::size_t from_hit_ = 0;
  std::size_t to_hit_ = 0;
  std::size_t from_word_ = 0;
  std::size_t to_word_ = 0;
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

void EventFilter::add(std::string_view expression, std::uint64_t tick_ps) {
  try {
    expressions_.push_back(parse_expression(expression, tick_ps, measure_.detector()));
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
