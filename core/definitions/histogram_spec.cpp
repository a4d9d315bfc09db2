#include "core/definitions/histogram_spec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/definitions/expression_text.hpp"
#include "core/definitions/quantity_parser.hpp"
#include "core/definitions/text_mistake.hpp"
#include "core/definitions/text_parts.hpp"
#include "core/runtime/did_you_mean.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

using AxisQuantity = HistogramAxis::Quantity;

constexpr std::array<std::pair<std::string_view, AxisQuantity>, 6> kAxisQuantities = {
    {{"value", AxisQuantity::value},
     {"dt", AxisQuantity::dt},
     {"n_hits", AxisQuantity::n_hits},
     {"duration", AxisQuantity::duration},
     {"channel", AxisQuantity::channel},
     {"time", AxisQuantity::time}}};

constexpr std::size_t kLongestName = 64;

bool is_time(AxisQuantity quantity) {
  return quantity == AxisQuantity::dt || quantity == AxisQuantity::duration || quantity == AxisQuantity::time;
}

bool is_name(std::string_view text) {
  const auto good = [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); };
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, good) &&
         std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

/// A number and the unit after it, which may be empty.
struct Measured {
  double number = 0;
  std::string_view unit;
};

Measured measured_in(std::string_view text) {
  auto number = text;
  if (number.starts_with('+')) number.remove_prefix(1);
  Measured out;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.number);
  if (error != std::errc() || !std::isfinite(out.number)) throw TextMistake(text, is_not(text, "a number"));
  out.unit = trimmed(number.substr(static_cast<std::size_t>(end - number.data())));
  return out;
}

double ps_in(std::string_view unit) {
  const auto ps = picoseconds_of(unit);
  if (!ps) throw TextMistake(unit, in_quotes(unit) + " is not a unit of time: ps, ns, us, ms, s, min or h");
  return static_cast<double>(*ps);
}

class HistogramParser {
 public:
  HistogramParser(const RunTicks& ticks, const Detector& detector, HistogramSpec& to)
      : ticks_(ticks), detector_(detector), to_(to) {}

  void parse_axis(std::string_view part) {
    ExpressionText text(part);
    HistogramAxis axis;
    const auto name = text.word();
    const auto* const found =
        std::ranges::find(kAxisQuantities, name, &std::pair<std::string_view, AxisQuantity>::first);
    if (found == kAxisQuantities.end()) refuse(name.empty() ? text.next() : name);
    axis.quantity = found->second;
    require_allowed(axis.quantity, name);
    if (axis.quantity == AxisQuantity::value) axis.hit = hit_of(hits_in(text, name, 1).front());
    if (axis.quantity == AxisQuantity::dt) set_pair(hits_in(text, name, 2), name);
    if (axis.quantity == AxisQuantity::channel) axis.hit = to_.hits.empty() ? hit_of(std::nullopt) : any_hit(name);
    axis.text = text.since(name);
    if (!text.take(":")) throw TextMistake(text.here(), "expected ':' as in " + axis.text + ":0..100/50");
    set_range(axis, text);
    to_.axes.push_back(std::move(axis));
  }

 private:
  [[noreturn]] static void refuse(std::string_view name) {
    std::vector<std::string_view> known;
    for (const auto& [quantity, kind] : kAxisQuantities) known.push_back(quantity);
    throw TextMistake(name,
                      (name.empty() ? "no quantity of a histogram is given"
                                    : in_quotes(name) + " is no quantity of a histogram" + did_you_mean(name, known)) +
                          ": value(G), dt(A,B), n_hits, duration, channel or time");
  }

  void require_allowed(AxisQuantity quantity, std::string_view name) const {
    const bool of_hit =
        quantity == AxisQuantity::value || quantity == AxisQuantity::channel || quantity == AxisQuantity::time;
    if (!to_.of_all_hits || of_hit) return;
    throw TextMistake(name, in_quotes(name) + " is of events: leave out @hits");
  }

  std::vector<HitSelection> hits_in(ExpressionText& text, std::string_view name, std::size_t n) {
    const auto as_in = std::string(name) + (n == 2 ? "(A,B)" : "(A)");
    const auto need = [&](std::string_view sign) {
      if (!text.take(sign)) throw TextMistake(text.here(), "expected " + in_quotes(sign) + " as in " + as_in);
    };
    need("(");
    std::vector<HitSelection> hits;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) need(",");
      hits.push_back(QuantityParser(text, ticks_, detector_, ExpressionUse::filter).hits());
    }
    need(")");
    return hits;
  }

  /// Returns the place in HistogramSpec::hits of a hit that an axis needs, and adds the hit unless the other axis needs
  /// the same one.
  std::size_t hit_of(const std::optional<HitSelection>& selection) {
    auto& hits = to_.hits;
    if (to_.of_all_hits && !hits.empty()) return narrow(selection);
    const auto same = std::ranges::find(hits, selection);
    if (has_pair_ && same != hits.end()) return static_cast<std::size_t>(same - hits.begin());
    if (!has_pair_ && hits.size() == 1 && !hits.front()) {
      hits.front() = selection;
      return 0;
    }
    hits.push_back(selection);
    return hits.size() - 1;
  }

  /// All axes of a histogram of all hits are of the same hit.
  std::size_t narrow(const std::optional<HitSelection>& selection) {
    if (!to_.hits.front()) to_.hits.front() = selection;
    if (selection && to_.hits.front() != selection) to_.hits.push_back(selection);
    return 0;
  }

  /// As the second axis, `channel` is that of the first axis' hit; if the first axis is `channel`, too, that of another
  /// hit.
  std::size_t any_hit(std::string_view name) {
    if (has_pair_) throw TextMistake(name, "'channel' cannot stand beside dt(A,B), which has two hits: use value");
    if (!to_.hits.front() && !to_.of_all_hits) to_.hits.emplace_back();
    return to_.hits.size() - 1;
  }

  void set_pair(const std::vector<HitSelection>& pair, std::string_view name) {
    auto& hits = to_.hits;
    const bool beside_channel = !hits.empty() && !hits.front();
    if (has_pair_ || beside_channel)
      throw TextMistake(name, "dt(A,B) can stand beside value(A), value(B), n_hits, duration or time");
    if (!hits.empty()) {
      const auto same = std::ranges::find(pair, *hits.front());
      if (same == pair.end()) throw TextMistake(name, "beside dt(A,B), value is that of A or B");
      to_.axes.front().hit = static_cast<std::size_t>(same - pair.begin());
    }
    hits.assign(pair.begin(), pair.end());
    has_pair_ = true;
  }

  void set_range(HistogramAxis& axis, ExpressionText& text) const {
    const auto range = text.up_to("/");
    const auto dots = range.find("..");
    if (dots == std::string_view::npos || !text.take("/"))
      throw TextMistake(range, "expected a range and a number of bins, as in " + axis.text + ":0..100/50");
    set_ends(axis, measured_in(trimmed(range.substr(0, dots))), measured_in(trimmed(range.substr(dots + 2))), range);
    if (!(axis.low < axis.high)) throw TextMistake(range, in_quotes(range) + " does not rise");
    const auto bins = text.word();
    std::uint32_t n = 0;
    const auto [end, error] = std::from_chars(bins.data(), bins.data() + bins.size(), n);
    const bool good = error == std::errc() && end == bins.data() + bins.size() && n >= 1;
    if (!good || n > kMostBins) throw TextMistake(bins, is_not(bins, "a number of bins (1 to 16777216)"));
    axis.set_range(axis.low, axis.high, n);
    if (!axis.resolves_bins())
      throw TextMistake(range, in_quotes(range) + " in " + std::to_string(n) +
                                   " bins is more than numbers with 15 digits can tell apart: use a narrower range "
                                   "around 0, or fewer bins");
    if (!text.at_end()) throw TextMistake(text.next(), "unexpected " + in_quotes(text.next()) + " after the bins");
  }

  void set_ends(HistogramAxis& axis, const Measured& low, const Measured& high, std::string_view range) const {
    axis.low = low.number;
    axis.high = high.number;
    const auto unit = low.unit.empty() ? high.unit : low.unit;
    if (!is_time(axis.quantity) || ticks_.numbered) {
      if (unit.empty()) return;
      throw TextMistake(unit, ticks_.numbered ? "the times of this run are event numbers, without a unit"
                                              : in_quotes(axis.text) + " is no time: leave out the unit");
    }
    if (low.unit.empty() && !high.unit.empty() && low.number != 0)
      throw TextMistake(range, "only one end of " + in_quotes(range) + " has a unit");
    axis.unit = low.unit.empty() ? "ns" : std::string(low.unit);
    axis.unit_ps = static_cast<std::uint64_t>(low.unit.empty() ? 1000 : ps_in(low.unit));
    if (!high.unit.empty()) axis.high *= ps_in(high.unit) / static_cast<double>(axis.unit_ps);
  }

  const RunTicks& ticks_;
  const Detector& detector_;
  HistogramSpec& to_;
  bool has_pair_ = false;
};

/// Removes `sign` from the end of the text.
bool take_end(std::string_view& text, std::string_view sign) {
  if (!text.ends_with(sign)) return false;
  text = trimmed(text.substr(0, text.size() - sign.size()));
  return true;
}

void parse_axes(std::string_view text, HistogramParser& parser, const HistogramSpec& spec) {
  const auto [first, second] = split_once(text, ';');
  parser.parse_axis(first);
  if (first.size() != text.size()) parser.parse_axis(second);
  if (spec.hits.size() > 2 || (spec.of_all_hits && spec.hits.size() > 1))
    throw TextMistake(text, in_quotes(text) + (spec.of_all_hits ? " is of more than one hit at a time"
                                                                : " is of more than two hits at a time"));
  if (spec.bins() > kMostBins) throw TextMistake(text, in_quotes(text) + " has more than 16777216 bins");
}

}  // namespace

std::vector<double> HistogramAxis::edges() const {
  std::vector<double> all;
  for (std::uint32_t bin = 0; bin <= bins; ++bin) all.push_back(edge(bin));
  return all;
}

void HistogramAxis::set_range(double from, double to, std::uint32_t n) {
  low = from;
  high = to;
  bins = n;
  step = (high - low) / bins;
  steps_per_unit = bins / (high - low);
}

/// The sum of two rounded numbers is off by a few of the smallest differences.
bool HistogramAxis::resolves_bins() const {
  constexpr double kApart = 4;
  const double largest = std::max(std::abs(low), std::abs(high));
  const double smallest = std::nextafter(largest, std::numeric_limits<double>::infinity()) - largest;
  return std::isfinite(high - low) && std::isfinite(steps_per_unit) && step >= kApart * smallest;
}

/// The product may be off by one bin near an edge: the edges decide.
std::int64_t HistogramAxis::bin_of(double number) const {
  if (number < low) return -1;
  if (number >= high) return bins;
  auto bin = std::min(static_cast<std::uint32_t>((number - low) * steps_per_unit), bins - 1);
  if (number < edge(bin)) --bin;
  if (number >= edge(bin + 1)) ++bin;
  return bin;
}

std::size_t HistogramSpec::bins() const {
  std::size_t n = 1;
  for (const auto& axis : axes) n *= axis.bins;
  return n;
}

std::string HistogramSpec::quantity() const {
  std::string all;
  for (const auto& axis : axes) all += (all.empty() ? "" : ";") + axis.text;
  return all;
}

bool HistogramSpec::uses_values() const {
  const auto of_values = [](const HistogramAxis& axis) { return axis.quantity == HistogramAxis::Quantity::value; };
  const auto in_range = [](const std::optional<HitSelection>& of) { return of && of->values; };
  return std::ranges::any_of(axes, of_values) || std::ranges::any_of(hits, in_range) ||
         (condition && condition->uses_values());
}

HistogramSpec parse_histogram(std::string_view text, const RunTicks& ticks, const Detector& detector) {
  HistogramSpec spec;
  spec.text = text;
  const auto equals = text.find('=');
  const auto name = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || !is_name(name)) {
    throw TextMistake(name,
                      "it needs a name of up to 64 letters, digits and underscores, beginning with a letter, "
                      "as in spectrum=value(Ge):0..2000/2000");
  }
  spec.name = name;
  auto rest = trimmed(text.substr(equals + 1));
  spec.of_all_hits = take_end(rest, "@hits");
  if (const auto condition = rest.find(" if "); condition != std::string_view::npos) {
    spec.condition = parse_expression(trimmed(rest.substr(condition + 4)), ticks, detector,
                                      spec.of_all_hits ? ExpressionUse::condition : ExpressionUse::filter);
    rest = trimmed(rest.substr(0, condition));
  }
  HistogramParser parser(ticks, detector, spec);
  parse_axes(rest, parser, spec);
  return spec;
}

std::string_view histogram_usage() {
  return "NAME=QUANTITY:LO..HI/BINS[;QUANTITY:LO..HI/BINS][ if EXPR][@hits], QUANTITY: value(G), dt(A,B), n_hits, "
         "duration, channel or time";
}

}  // namespace eventloom
