#include "app/command/options.hpp"

#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/runtime/did_you_mean.hpp"
#include "formats/geometry.hpp"
#include "formats/units.hpp"
#include "schedulers/make_scheduler.hpp"
#include "schedulers/table.hpp"

namespace eventloom {

namespace po = boost::program_options;

po::typed_value<std::string>* text_value(const char* name, const char* value, const char* shown) {
  return po::value<std::string>()->value_name(name)->default_value(value, shown);
}
po::typed_value<std::string>* text_value(const char* name, const char* value) { return text_value(name, value, value); }
po::typed_value<std::string>* text_value(const char* name) { return po::value<std::string>()->value_name(name); }
po::typed_value<std::vector<std::string>>* list_value(const char* name) {
  return po::value<std::vector<std::string>>()->value_name(name)->composing();
}

void add_option_rows(po::options_description& options, std::initializer_list<OptionRow> rows) {
  for (const auto& row : rows) options.add_options()(row.name, row.value, row.help);
}

std::uint64_t count_option(const boost::program_options::variables_map& values, const char* option, std::uint64_t low,
                           std::uint64_t high) {
  return in_range(option, parsed(option, [&] { return parse_count(values[option].as<std::string>()); }), low, high);
}

std::uint64_t bytes_option(const boost::program_options::variables_map& values, const char* option, std::uint64_t low,
                           std::uint64_t high) {
  return in_range(option, parsed(option, [&] { return parse_bytes(values[option].as<std::string>()); }), low, high);
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

namespace {

template <class Parse>
std::vector<std::uint64_t> numbers_option(const po::variables_map& values, const char* option, std::uint64_t low,
                                          std::uint64_t high, Parse parse) {
  std::vector<std::uint64_t> numbers;
  for (const auto& word : words_of(values[option].as<std::string>())) {
    numbers.push_back(in_range(option, parsed(option, [&] { return parse(word); }), low, high));
  }
  if (numbers.empty()) throw UserError("--" + std::string(option) + " needs at least one value");
  return numbers;
}

}  // namespace

std::vector<std::uint64_t> sizes_option(const po::variables_map& values, const char* option, std::uint64_t low,
                                        std::uint64_t high) {
  return numbers_option(values, option, low, high, parse_bytes);
}

std::vector<std::uint64_t> counts_option(const po::variables_map& values, const char* option, std::uint64_t low,
                                         std::uint64_t high) {
  return numbers_option(values, option, low, high, parse_count);
}

std::chrono::nanoseconds duration_option(const boost::program_options::variables_map& values, const char* option) {
  constexpr std::uint64_t kPicosecondsPerNanosecond = 1000;
  const auto& text = values[option].as<std::string>();
  if (text.empty()) return std::chrono::nanoseconds(0);
  const auto ns = parsed(option, [&] { return parse_duration(text, kPicosecondsPerNanosecond); });
  constexpr std::uint64_t kTenYears = 315'360'000'000'000'000;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(in_range<std::uint64_t>(option, ns.value, 0, kTenYears)));
}

std::uint32_t parse_epoch_length(const std::string& text, std::uint64_t tick_ps) {
  const auto ticks = parsed("epoch", [&] { return parse_duration(text, tick_ps); });
  if (ticks < 1 || ticks > Tick(kMaxEpochTicks)) {
    throw UserError("--epoch: '" + text + "' is " + std::to_string(ticks.value) + " ticks; an epoch has 1 to " +
                    std::to_string(kMaxEpochTicks));
  }
  return static_cast<std::uint32_t>(ticks);
}

TimeBaseOptions time_base_options(const boost::program_options::variables_map& values) {
  constexpr std::uint64_t kSecond = 1'000'000'000'000;
  TimeBaseOptions options;
  if (values.count("tick") != 0) {
    const auto& text = values["tick"].as<std::string>();
    options.tick_ps = parsed("tick", [&] { return parse_picoseconds(text); });
    if (options.tick_ps < 1U || options.tick_ps > kSecond)
      throw UserError("--tick must be from 1ps to 1s, not '" + text + "'");
  }
  if (values.count("epoch") != 0) {
    options.epoch_ticks =
        parse_epoch_length(values["epoch"].as<std::string>(), options.tick_ps.value_or(TimeBase{}.tick_ps));
  }
  return options;
}

std::uint64_t slot_option(const boost::program_options::variables_map& values) {
  const auto& text = values["slot"].as<std::string>();
  if (text.empty()) return 0;
  const auto ps = parsed("slot", [&] { return parse_picoseconds(text); });
  constexpr std::uint64_t kNanosecond = 1000;
  constexpr std::uint64_t kSecond = 1'000'000'000'000;
  if (ps < kNanosecond || ps > kSecond) throw UserError("--slot must be from 1ns to 1s, not '" + text + "'");
  return ps / kNanosecond;
}

void check_schedule(const std::string& name, std::uint64_t slot_ns) {
  // A table is parsed once the numbers of sources and builders are known.
  if (schedule_file(name)) {
    if (slot_ns != 0) throw UserError("--slot: a schedule table has its own times; omit --slot");
    return;
  }
  ScheduleSettings settings;
  settings.name = name;
  settings.slot_ns = slot_ns;
  try {
    static_cast<void>(make_scheduler(settings));
  } catch (const std::invalid_argument& e) {
    const auto names = scheduler_names();
    throw UserError("--schedule: " + std::string(e.what()) +
                    did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())));
  }
}

}  // namespace eventloom
