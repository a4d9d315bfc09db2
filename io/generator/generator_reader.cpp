#include "io/generator/generator_reader.hpp"

#include <charconv>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "io/generator/point_process.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kMaxChannels = 65536;  ///< range of the channel field of an ID marker
constexpr double kPicosecondsPerSecond = 1e12;
constexpr double kMaxHitsPerTick = 1000;

/// Mean spacing of hits in ticks.
double spacing_of(const SourceUri& uri, std::uint64_t tick_ps) {
  const auto text = uri.require("rate");
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  const double spacing = kPicosecondsPerSecond / static_cast<double>(tick_ps) / rate;
  if (error != std::errc() || end != text.data() + text.size() || !std::isnormal(spacing) || spacing < 0) {
    uri.refuse("rate=" + text + " is not a number of hits a second above 0");
  }
  if (spacing < 1 / kMaxHitsPerTick) {
    uri.refuse("rate=" + text + " is more than 1000 hits in a tick of " + std::to_string(tick_ps) +
               " ps; use a lower rate or a finer --tick");
  }
  return spacing;
}

Tick duration_of(const SourceUri& uri, std::uint64_t tick_ps) {
  try {
    return parse_duration(uri.get("duration", "1s"), tick_ps);
  } catch (const std::invalid_argument& e) {
    uri.refuse("duration: " + std::string(e.what()));
  }
}

class GeneratorReader final : public HitReader {
 public:
  GeneratorReader(const SourceUri& uri, SourceId id, const TimeBase& base)
      : name_(uri.scheme() + ":" + uri.path() + "[" + std::to_string(id.value) + "]"),
        process_(uri.path(), spacing_of(uri, base.tick_ps)),
        engine_(uri.get_count("seed", 1, 0, ~std::uint64_t{0})),
        duration_(duration_of(uri, base.tick_ps)),
        channels_(static_cast<std::uint32_t>(uri.get_count("channels", 1024, 1, kMaxChannels))),
        system_(static_cast<std::uint32_t>(id.value % 64) << 22),
        payload_words_(uri.get_count("payload", 0, 0, kMaxPayloadWords)) {
    header_ = {id.value, base, PayloadTable::uniform(static_cast<std::uint8_t>(payload_words_)), uri.text()};
  }

  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override;
  [[nodiscard]] std::optional<double> share_read() const override {
    return ended_ ? 1 : static_cast<double>(last_) / static_cast<double>(duration_);
  }

 private:
  std::string name_;
  StreamHeader header_;
  PointProcess process_;
  RandomEngine engine_;
  Tick duration_;
  std::uint32_t channels_;
  std::uint32_t system_;
  std::size_t payload_words_;
  Tick last_ = 0;  ///< time of the last hit
  bool ended_ = false;
};

bool GeneratorReader::read(HitBlock& block) {
  block.clear();
  while (!ended_ && block.size() < kBlockHits) {
    const Tick time = process_.next(engine_);
    ended_ = time >= duration_;
    if (ended_) break;
    block.time.push_back(time);
    last_ = time;
    block.channel.push_back(system_ | uniform_below(engine_, channels_));
    for (std::size_t i = 0; i < payload_words_; ++i) block.payload.push_back(static_cast<std::uint32_t>(engine_()));
  }
  return block.size() != 0;
}

}  // namespace

std::unique_ptr<HitReader> open_generator(const SourceUri& uri, SourceId id, const TimeBase& base) {
  return std::make_unique<GeneratorReader>(uri, id, base);
}

}  // namespace eventloom
