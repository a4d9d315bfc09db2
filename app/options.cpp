#include "app/options.hpp"

#include "formats/geometry.hpp"
#include "formats/units.hpp"

namespace eventloom {

std::uint64_t count_option(const boost::program_options::variables_map& values, const char* option, std::uint64_t low,
                           std::uint64_t high) {
  return in_range(option, parsed(option, [&] { return parse_count(values[option].as<std::string>()); }), low, high);
}

std::uint32_t parse_epoch_length(const std::string& text, std::uint64_t tick_ps) {
  const auto ticks = parsed("epoch", [&] { return parse_duration(text, tick_ps); });
  if (ticks < 1 || ticks > kMaxEpochTicks) {
    throw UserError("--epoch: '" + text + "' is " + std::to_string(ticks) + " ticks; an epoch has 1 to " +
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
      throw UserError("--tick: '" + text + "' is not from 1ps to 1s");
  }
  if (values.count("epoch") != 0) {
    options.epoch_ticks =
        parse_epoch_length(values["epoch"].as<std::string>(), options.tick_ps.value_or(TimeBase{}.tick_ps));
  }
  return options;
}

}  // namespace eventloom
