#include "app/run/time_origin.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

/// Smaller differences are not a contradiction: clocks of boards agree no better.
constexpr double kAgree_s = 1e-3;

__extension__ using SignedWide = __int128;

struct Statement {
  std::string by;
  std::int64_t unix_ns = 0;
};

/// Returns 0 before there are data.
std::uint64_t first_ns(const SourceInfo& source) {
  __extension__ using Wide = unsigned __int128;
  const auto ps =
      static_cast<Wide>(source.first_epoch.value_or(Epoch(0)).value) * source.base.epoch_ticks * source.base.tick_ps;
  return static_cast<std::uint64_t>(ps / 1000);
}

std::optional<Statement> statement_of(const SourceInfo& source) {
  if (source.started_ns != 0) return Statement{"'" + source.name + "'", source.started_ns};
  if (source.origin_ns) return Statement{"the origin= of '" + source.name + "'", *source.origin_ns};
  if (!source.counts_tai) return std::nullopt;
  return Statement{"the White Rabbit stamps of '" + source.name + "'", unix_ns_of_tai_zero(first_ns(source))};
}

/// Reports the first contradiction of its kind in full, and counts the others.
void add_contradictions(TimeOrigin& origin, const Statement& kept, const std::vector<Statement>& all) {
  std::size_t more = 0;
  for (const auto& other : all) {
    const double apart = static_cast<double>(SignedWide{other.unix_ns} - kept.unix_ns) * 1e-9;
    if (std::abs(apart) < kAgree_s) continue;
    if (!origin.contradictions.empty()) {
      ++more;
      continue;
    }
    origin.contradictions.push_back(fmt::format("tick 0 is at {} by {}, but at {} by {}, {:+.9g} s: the former is kept",
                                                utc_text(kept.unix_ns), kept.by, utc_text(other.unix_ns), other.by,
                                                apart));
  }
  if (more > 0) origin.contradictions.push_back(fmt::format("{} more sources contradict {} likewise", more, kept.by));
}

}  // namespace

TimeOrigin find_time_origin(const std::string& given, const std::vector<SourceInfo>& sources) {
  if (!given.empty() && (sources.front().flags & kNumbered) != 0) {
    throw UserError("--time-origin " + given + ": the times of this run are event numbers");
  }
  std::vector<Statement> all;
  if (!given.empty()) all.push_back({"--time-origin", parse_unix_ns(given)});
  for (const auto& source : sources) {
    if (const auto statement = statement_of(source)) all.push_back(*statement);
  }
  TimeOrigin origin;
  if (all.empty()) return origin;
  origin.time_of_tick_0 = utc_text(all.front().unix_ns);
  add_contradictions(origin, all.front(), all);
  return origin;
}

}  // namespace eventloom
