#include "app/view/convert/convert_target.hpp"

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/marker_reader.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/spikes/spikes_writer.hpp"

namespace eventloom {

namespace {

class EpochsTarget final : public ConvertTarget {
 public:
  EpochsTarget(const std::string& path, const StreamHeader& header) : writer_(path, header) {}
  void append(const EpochBufferHeader&, std::span<const std::byte> stored) override { writer_.append(stored); }
  std::string finish() override {
    const auto w = writer_.finish();
    return fmt::format("{} hits in {} epoch buffers, {} bytes, ticks {} to {}", w.hits, w.buffers, w.bytes,
                       w.first_tick.value, w.last_tick.value);
  }
  void abandon() override { writer_.abandon(); }

 private:
  StreamWriter writer_;
};

/// Visits single hits, in the order of the words.
struct SpikeVisitor : CountsMarkers {
  SpikeVisitor(SpikesWriter& to, std::uint32_t ticks) : writer(to), epoch_ticks(ticks) {}

  SpikesWriter& writer;
  std::uint32_t epoch_ticks;
  Tick epoch_start = 0;

  void epoch(Epoch epoch) { epoch_start = tick_of_epoch(epoch, epoch_ticks); }
  void hit(std::uint32_t tick, std::uint32_t channel, std::span<const std::uint32_t>) {
    writer.append(epoch_start + Tick(tick), channel);
  }
};

class SpikesTarget final : public ConvertTarget {
 public:
  SpikesTarget(const std::string& path, const StreamHeader& header, std::uint32_t channel_base)
      : header_(header), path_(path), writer_(path, header.base.tick_ps, channel_base) {}

  void append(const EpochBufferHeader& header, std::span<const std::byte> stored) override {
    SpikeVisitor visitor(writer_, header_.base.epoch_ticks);
    const MarkerContext context{header.epochs(), header_.base.epoch_ticks, header_.payload};
    const auto error = MarkerReader<SpikeVisitor>(words_of(header, stored), context, visitor).read();
    left_out_.add(visitor.others);
    if (!error) return;
    throw UserError(fmt::format("'{}': the epoch buffer at offset {} cannot be converted: word {}: {}", path_,
                                header.stream_offset, error->word, error->reason));
  }
  std::string finish() override {
    const auto w = writer_.finish();
    return fmt::format("{} spikes in {} packets, {} bytes, ticks {} to {}", w.spikes, w.packets, w.bytes,
                       w.first_tick.value, w.last_tick.value);
  }
  void abandon() override { writer_.abandon(); }
  [[nodiscard]] MarkerCounts left_out() const override { return left_out_; }

 private:
  StreamHeader header_;
  MarkerCounts left_out_;
  std::string path_;
  SpikesWriter writer_;
};

}  // namespace

std::unique_ptr<ConvertTarget> open_target(const ConvertFormat& format, const std::string& path,
                                           const StreamHeader& header) {
  if (!format.spikes) return std::make_unique<EpochsTarget>(path, header);
  if (header.payload.any()) {
    throw UserError("'" + path + "': spikes have no payload; omit payload= in the source's URI");
  }
  return std::make_unique<SpikesTarget>(path, header, format.channel_base);
}

}  // namespace eventloom
