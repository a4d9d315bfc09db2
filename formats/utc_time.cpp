#include "formats/utc_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

namespace eventloom {

namespace {

__extension__ using Int128 = __int128;
__extension__ using UnsignedInt128 = unsigned __int128;

constexpr Int128 kPsPerNs = 1000;
constexpr Int128 kPsPerSecond = 1'000'000'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

constexpr std::uint64_t kAttosecondsPerNs = 1'000'000'000;

[[noreturn]] void refuse(std::string_view text, const char* why) {
  throw std::invalid_argument("'" + std::string(text) + "' " + why +
                              "; expected a time such as 2026-11-21T10:00:00Z, with up to nine decimals of the second, "
                              "and Z or an offset such as +01:00");
}

/// Parses text and removes it from the front. Once a step has failed, the whole text counts as invalid.
class UtcScanner {
 public:
  explicit UtcScanner(std::string_view text) : text_(text) {}

  /// Parses a number of exactly this many digits.
  int number(int digits) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!digit()) return fail();
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  bool take(std::string_view any_of) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  void demand(std::string_view any_of) {
    if (!take(any_of)) fail();
  }
  [[nodiscard]] bool digit() const { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }
  /// Parsed completely, without error.
  [[nodiscard]] bool done() const { return good_ && text_.empty(); }

 private:
  int fail() {
    good_ = false;
    return 0;
  }

  std::string_view text_;
  bool good_ = true;
};

std::uint64_t read_fraction(UtcScanner& in) {
  constexpr int kDigits = 18;
  std::uint64_t value = 0;
  int digits = 0;
  if (!in.digit()) in.demand("0");
  for (; in.digit() && digits < kDigits; ++digits) value = value * 10 + static_cast<std::uint64_t>(in.number(1));
  for (; digits < kDigits; ++digits) value *= 10;
  return value;
}

/// Minutes by which the time of day is ahead of UTC. `said`: whether the text states it.
int read_zone(UtcScanner& in, bool& said) {
  said = true;
  if (in.take("Zz")) return 0;
  const bool ahead = in.take("+");
  if (!ahead && !in.take("-")) {
    said = false;
    return 0;
  }
  const int hours = in.number(2);
  const bool colon = in.take(":");
  const int minutes = colon || in.digit() ? in.number(2) : 0;
  if (hours > 23 || minutes > 59) in.demand("");
  return (ahead ? 1 : -1) * (hours * 60 + minutes);
}

void add_number(std::string& text, std::uint64_t value, std::size_t width) {
  const auto digits = std::to_string(value);
  text.append(width - std::min(width, digits.size()), '0');
  text += digits;
}

std::string date_text(std::chrono::year_month_day date) {
  std::string text;
  add_number(text, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  text += '-';
  add_number(text, static_cast<unsigned>(date.month()), 2);
  text += '-';
  add_number(text, static_cast<unsigned>(date.day()), 2);
  return text;
}

/// Text of `ps` since 1970, which must be within the years of parse_utc().
std::string text_of(Int128 ps) {
  auto seconds = static_cast<std::int64_t>(ps / kPsPerSecond);
  auto rest = static_cast<std::int64_t>(ps % kPsPerSecond);
  if (rest < 0) {
    rest += static_cast<std::int64_t>(kPsPerSecond);
    --seconds;
  }
  const auto time = std::chrono::sys_seconds(std::chrono::seconds(seconds));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::hh_mm_ss clock(time - day);
  auto text = date_text(day) + 'T';
  add_number(text, static_cast<std::uint64_t>(clock.hours().count()), 2);
  text += ':';
  add_number(text, static_cast<std::uint64_t>(clock.minutes().count()), 2);
  text += ':';
  add_number(text, static_cast<std::uint64_t>(clock.seconds().count()), 2);
  if (rest != 0) {
    const bool whole_ns = rest % 1000 == 0;
    text += '.';
    add_number(text, static_cast<std::uint64_t>(whole_ns ? rest / 1000 : rest), whole_ns ? 9 : 12);
  }
  return text + 'Z';
}

constexpr std::int64_t kAheadNow = 37;

/// TAI - UTC in seconds, each valid from a second of TAI since 1970.
constexpr std::array<std::pair<std::uint64_t, std::int64_t>, 5> kAhead = {
    {{1'136'073'633, 33}, {1'230'768'034, 34}, {1'341'100'835, 35}, {1'435'708'836, 36}, {1'483'228'837, kAheadNow}}};

}  // namespace

std::optional<UtcTime> parse_utc(std::string_view text) {
  namespace ch = std::chrono;
  UtcScanner in(text);
  const ch::year year(in.number(4));
  in.demand("-");
  const ch::month month(static_cast<unsigned>(in.number(2)));
  in.demand("-");
  const ch::year_month_day date(year, month, ch::day(static_cast<unsigned>(in.number(2))));
  in.demand("Tt ");
  const int hours = in.number(2);
  in.demand(":");
  const int minutes = in.number(2);
  in.demand(":");
  const int seconds = in.number(2);
  UtcTime time;
  if (in.take(".,")) time.attoseconds = read_fraction(in);
  const int zone = read_zone(in, time.says_zone);
  if (!in.done() || !date.ok() || hours > 23 || minutes > 59 || seconds > 59) return std::nullopt;
  const auto day = ch::sys_days(date).time_since_epoch();
  time.seconds = ch::seconds(day).count() + std::int64_t{hours * 60 + minutes - zone} * 60 + seconds;
  return time;
}

bool names_leap_second(std::string_view text) {
  constexpr std::size_t kPlace = 16;
  constexpr std::string_view kSecond60 = ":60";
  if (text.size() < kPlace + kSecond60.size() || text.substr(kPlace, kSecond60.size()) != kSecond60) return false;
  return parse_utc(std::string(text).replace(kPlace, kSecond60.size(), ":59")).has_value();
}

std::optional<std::string> leap_second_between(std::int64_t from_s, std::int64_t to_s) {
  std::optional<std::string> last;
  for (const auto& [tai, ahead] : kAhead) {
    const auto second_after = static_cast<std::int64_t>(tai) - ahead;
    if (from_s >= second_after || to_s < second_after) continue;
    const auto day =
        std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(second_after - 1)));
    last = date_text(day) + "T23:59:60Z";
  }
  return last;
}

std::int64_t parse_unix_ns(std::string_view text) {
  if (names_leap_second(text)) refuse(text, "is a leap second, which Unix time does not count");
  const auto time = parse_utc(text);
  if (!time) refuse(text, "is not a time");
  if (!time->says_zone) refuse(text, "does not say whether it is UTC");
  if (time->attoseconds % kAttosecondsPerNs != 0) refuse(text, "has more than nine decimals");
  const auto whole = Int128{time->seconds} * kNsPerSecond + static_cast<Int128>(time->attoseconds / kAttosecondsPerNs);
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  if (whole > kMost || whole < -kMost) refuse(text, "is not between 1678 and 2261");
  return static_cast<std::int64_t>(whole);
}

std::string utc_text(std::int64_t unix_ns) { return text_of(unix_ns * kPsPerNs); }

std::optional<std::string> utc_text(std::int64_t tick_0_ns, Tick tick, std::uint64_t tick_ps) {
  const auto since = UnsignedInt128{tick.value} * tick_ps;
  constexpr auto kMostNs = std::numeric_limits<std::int64_t>::max();
  if (since > static_cast<UnsignedInt128>(kMostNs) * 1000) return std::nullopt;
  const auto ps = tick_0_ns * kPsPerNs + static_cast<Int128>(since);
  return ps > kMostNs * kPsPerNs ? std::nullopt : std::optional(text_of(ps));
}

std::int64_t unix_ns_of_tai_zero(std::uint64_t stamp_ns) {
  std::int64_t ahead = kAheadNow;
  for (const auto& [from, seconds] : kAhead) {
    if (stamp_ns / static_cast<std::uint64_t>(kNsPerSecond) >= from) ahead = seconds;
  }
  return -ahead * kNsPerSecond;
}

}  // namespace eventloom
