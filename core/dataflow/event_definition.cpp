#include "core/dataflow/event_definition.hpp"

#include <limits>
#include <stdexcept>
#include <vector>

#include "core/dataflow/expression.hpp"
#include "core/runtime/error.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

[[noreturn]] void reject(std::string_view text, const std::string& why) {
  throw UserError("--define '" + std::string(text) + "': " + why +
                  "; expected gap:G,M or multiplicity:W,T[,pre,post] or tag, where G >= 0 and W >= 1 are lengths of "
                  "time (ticks, or with a unit as in 25ns), M and T at least 1 hit, pre and post numbers of bins");
}

GapDefinition parse_gap(const std::vector<std::string_view>& values, std::uint64_t tick_ps) {
  if (values.size() != 2) throw std::invalid_argument("gap takes two values");
  const GapDefinition gap{parse_duration(values[0], tick_ps), parse_count(values[1])};
  if (gap.min_hits < 1) throw std::invalid_argument("M is 0");
  return gap;
}

MultiplicityDefinition parse_multiplicity(const std::vector<std::string_view>& values, std::uint64_t tick_ps) {
  if (values.size() < 2 || values.size() > 4) throw std::invalid_argument("multiplicity takes two to four values");
  MultiplicityDefinition m{.width = parse_duration(values[0], tick_ps), .threshold = parse_count(values[1])};
  if (values.size() > 2) m.pre = parse_count(values[2]);
  if (values.size() > 3) m.post = parse_count(values[3]);
  if (m.width < 1) throw std::invalid_argument("W is 0");
  if (m.threshold < 1) throw std::invalid_argument("T is 0");
  return m;
}

/// (pre + post + 2) * width, or the largest value when that does not fit.
Tick reach_of(const MultiplicityDefinition& m) {
  constexpr Tick kMax = std::numeric_limits<Tick>::max();
  if (m.pre > kMax - 2 || m.post > kMax - 2 - m.pre) return kMax;
  const std::uint64_t bins = m.pre + m.post + 2;
  return m.width > kMax / bins ? kMax : bins * m.width;
}

}  // namespace

EventDefinition parse_event_definition(std::string_view text, std::uint64_t tick_ps) {
  const auto [kind, rest] = split_once(text, ':');
  try {
    if (kind == "gap") return parse_gap(split_list(rest), tick_ps);
    if (kind == "multiplicity") return parse_multiplicity(split_list(rest), tick_ps);
    if (kind == "tag" && trimmed(text) == "tag") return TagDefinition{};
  } catch (const std::invalid_argument& error) {
    reject(text, error.what());
  }
  reject(text, "not an event definition");
}

std::string to_text(const EventDefinition& definition) {
  if (const auto* gap = std::get_if<GapDefinition>(&definition)) {
    return "gap:" + std::to_string(gap->gap) + "," + std::to_string(gap->min_hits);
  }
  if (const auto* m = std::get_if<MultiplicityDefinition>(&definition)) {
    return "multiplicity:" + std::to_string(m->width) + "," + std::to_string(m->threshold) + "," +
           std::to_string(m->pre) + "," + std::to_string(m->post);
  }
  return "tag";
}

Tick reach_of(const EventDefinition& definition) {
  if (const auto* gap = std::get_if<GapDefinition>(&definition)) return gap->gap;
  if (const auto* multiplicity = std::get_if<MultiplicityDefinition>(&definition)) return reach_of(*multiplicity);
  return 0;
}

}  // namespace eventloom
