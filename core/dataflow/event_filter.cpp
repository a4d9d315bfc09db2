#include "core/dataflow/event_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/definitions/expression.hpp"
#include "core/runtime/error.hpp"
#include "formats/hash.hpp"
#include "formats/markers.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

using Condition = EventFilter::Condition;

constexpr std::array<std::pair<std::string_view, Condition::Comparison>, 7> kComparisons = {
    {{">=", Condition::Comparison::at_least},
     {"<=", Condition::Comparison::at_most},
     {"==", Condition::Comparison::equal},
     {"!=", Condition::Comparison::unequal},
     {">", Condition::Comparison::above},
     {"<", Condition::Comparison::below},
     {"=", Condition::Comparison::equal}}};

std::uint32_t parse_channel(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = hex ? text.substr(2) : text;
  std::uint32_t channel = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), channel, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || channel > kValueMask) {
    throw std::invalid_argument("'" + std::string(text) + "' is not a channel (0 to 0xfffffff)");
  }
  return channel;
}

void parse_channels(std::string_view text, Condition& out) {
  const auto [low, high] = split_once(text, '-');
  out.low = parse_channel(low);
  out.high = text.find('-') == std::string_view::npos ? out.low : parse_channel(high);
  if (out.low > out.high) throw std::invalid_argument("'" + std::string(text) + "' has LOW above HIGH");
}

void parse_quantity(std::string_view text, Condition& out) {
  using Quantity = Condition::Quantity;
  const auto [name, argument] = split_once(text, ':');
  if (name == "channel") {
    out.quantity = Quantity::channel;
    return parse_channels(argument, out);
  }
  constexpr std::array<std::pair<std::string_view, Quantity>, 4> kNames = {{{"n_hits", Quantity::n_hits},
                                                                            {"duration", Quantity::duration},
                                                                            {"systems", Quantity::systems},
                                                                            {"prescale", Quantity::prescale}}};
  for (const auto& [known, quantity] : kNames) {
    if (known == trimmed(text)) {
      out.quantity = quantity;
      return;
    }
  }
  throw std::invalid_argument("'" + std::string(text) + "' is not known");
}

Condition parse_condition(std::string_view text, std::uint64_t tick_ps) {
  Condition out;
  const auto at = text.find_first_of("<>=!");
  if (at == std::string_view::npos) throw std::invalid_argument("no comparison");
  const auto rest = text.substr(at);
  const auto* sign = std::ranges::find_if(kComparisons, [&](const auto& c) { return rest.starts_with(c.first); });
  if (sign == kComparisons.end()) throw std::invalid_argument("no comparison");
  out.comparison = sign->second;
  parse_quantity(trimmed(text.substr(0, at)), out);
  const auto value = trimmed(rest.substr(sign->first.size()));
  const bool is_time = out.quantity == Condition::Quantity::duration;
  out.value = is_time ? parse_duration(value, tick_ps) : parse_count(value);
  if (out.quantity != Condition::Quantity::prescale) return out;
  if (out.comparison != Condition::Comparison::equal) throw std::invalid_argument("prescale takes '=' only");
  if (out.value == 0) throw std::invalid_argument("prescale is 0");
  return out;
}

/// One event and its hits.
struct EventView {
  Tick time;
  Tick duration;
  std::span<const std::uint32_t> channels;
};

std::uint64_t count_systems(std::span<const std::uint32_t> channels) {
  std::uint64_t seen = 0;
  for (const auto channel : channels) seen |= std::uint64_t{1} << (channel >> 22 & 0x3fU);
  return static_cast<std::uint64_t>(std::popcount(seen));
}

std::uint64_t measure(const Condition& condition, const EventView& event) {
  switch (condition.quantity) {
    case Condition::Quantity::n_hits: return event.channels.size();
    case Condition::Quantity::duration: return event.duration;
    case Condition::Quantity::systems: return count_systems(event.channels);
    case Condition::Quantity::channel: break;
    case Condition::Quantity::prescale: return splitmix64(event.time) % condition.value;
  }
  const auto inside = [&](std::uint32_t c) { return condition.low <= c && c <= condition.high; };
  return static_cast<std::uint64_t>(std::ranges::count_if(event.channels, inside));
}

bool passes(const Condition& condition, const EventView& event) {
  const std::uint64_t x = measure(condition, event);
  if (condition.quantity == Condition::Quantity::prescale) return x == 0;
  switch (condition.comparison) {
    case Condition::Comparison::at_least: return x >= condition.value;
    case Condition::Comparison::at_most: return x <= condition.value;
    case Condition::Comparison::above: return x > condition.value;
    case Condition::Comparison::below: return x < condition.value;
    case Condition::Comparison::equal: return x == condition.value;
    case Condition::Comparison::unequal: break;
  }
  return x != condition.value;
}

/// Moves the remaining events, hits and payload to the front of their columns.
class Compactor {
 public:
  explicit Compactor(BuiltSlice& slice) : events_(slice.events), hits_(slice.hits) {}

  /// The next event, whose hits follow those of the previous one.
  void pass(std::size_t event, bool keep) {
    const std::size_t n = events_.n_hits[event];
    const std::size_t words = payload_of(n);
    if (keep) {
      keep_event(event);
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

  [[nodiscard]] std::size_t next_hit() const { return from_hit_; }

 private:
  template <class T>
  static void move(std::vector<T>& column, std::size_t from, std::size_t to, std::size_t n) {
    if (from != to)
      std::copy_n(column.begin() + static_cast<std::ptrdiff_t>(from), n,
                  column.begin() + static_cast<std::ptrdiff_t>(to));
  }

  [[nodiscard]] std::size_t payload_of(std::size_t n) const {
    if (hits_.payload_words.empty()) return 0;
    std::size_t words = 0;
    for (std::size_t i = from_hit_; i < from_hit_ + n; ++i) words += hits_.payload_words[i];
    return words;
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

}  // namespace

void EventFilter::add(std::string_view expression, std::uint64_t tick_ps) {
  try {
    conditions_.push_back(parse_condition(expression, tick_ps));
  } catch (const std::invalid_argument& error) {
    throw UserError("--filter '" + std::string(expression) + "': " + error.what() +
                    "; expected n_hits, duration, systems or channel:LOW-HIGH, then >= > <= < == or != and a number "
                    "(duration: ticks, or with a unit as in 500ns), or prescale=N");
  }
}

void EventFilter::select(BuiltSlice& slice) const {
  Compactor compactor(slice);
  const std::size_t n = slice.events.size();
  slice.events_rejected = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const EventView event{slice.events.time[i], slice.events.duration[i],
                          std::span(slice.hits.channel).subspan(compactor.next_hit(), slice.events.n_hits[i])};
    const bool accepted = std::ranges::all_of(conditions_, [&](const Condition& c) { return passes(c, event); });
    if (!accepted) {
      slice.ledger.hits_in_events -= slice.events.hits_in_slice[i];
      slice.ledger.hits_rejected += slice.events.hits_in_slice[i];
      slice.events_rejected += slice.events.owned[i];
    }
    compactor.pass(i, accepted && slice.events.owned[i] != 0);
  }
  compactor.finish();
}

}  // namespace eventloom
