#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/recorded/encoded_stream.hpp"

namespace eventloom {
namespace {

constexpr std::uint32_t kTicksOfEpoch = 100;
constexpr Epoch kFar = Epoch(std::uint64_t{1} << 40);

/// Returns its blocks.
class GivenBlocks final : public HitReader {
 public:
  explicit GivenBlocks(std::vector<HitBlock> blocks) : blocks_(std::move(blocks)) {
    header_.base = {1000, kTicksOfEpoch};
  }
  [[nodiscard]] const StreamHeader& header() const override { return header_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] InputFile input() const override { return {}; }
  bool read(HitBlock& block) override {
    block.clear();
    if (at_ == blocks_.size()) return false;
    block = blocks_[at_++];
    return true;
  }

 private:
  std::vector<HitBlock> blocks_;
  StreamHeader header_;
  std::string name_ = "blocks";
  std::size_t at_ = 0;
};

std::unique_ptr<EncodedStream> stream_of(std::vector<HitBlock> blocks) {
  return std::make_unique<EncodedStream>(std::make_unique<GivenBlocks>(std::move(blocks)), ReorderLimits{1});
}

HitBlock block_at(const std::vector<Tick>& times) {
  HitBlock block;
  block.time = times;
  block.channel.assign(times.size(), 1);
  return block;
}

/// A stream with hits in each of these epochs, one block per epoch.
std::unique_ptr<EncodedStream> stream_in(const std::vector<Epoch>& epochs) {
  std::vector<HitBlock> blocks;
  for (const Epoch epoch : epochs)
    blocks.push_back(block_at({tick_of_epoch(epoch, kTicksOfEpoch), tick_of_epoch(epoch, kTicksOfEpoch) + 5}));
  return stream_of(std::move(blocks));
}

std::string error_of_reading(Source& source) {
  SliceData data;
  try {
    source.collect({0, std::numeric_limits<Epoch>::max()}, data);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(EncodedLimits, TakesTheLastTimeThatHasAnEpoch) {
  const Tick last = tick_of_epoch(max_epoch(kTicksOfEpoch) + 1, kTicksOfEpoch) - 1;
  const auto stream = stream_of({block_at({3, last})});
  EXPECT_EQ(error_of_reading(*stream), "");
  EXPECT_EQ(stream->hits_read(), 2U);
  EXPECT_EQ(stream->end_epoch(), max_epoch(kTicksOfEpoch) + 1);
}

TEST(EncodedLimits, RefusesLaterTimes) {
  const Tick last = tick_of_epoch(max_epoch(kTicksOfEpoch) + 1, kTicksOfEpoch) - 1;
  for (const Tick time : {last + 1, std::numeric_limits<Tick>::max()}) {
    const auto text = error_of_reading(*stream_of({block_at({3, time})}));
    EXPECT_NE(text.find("blocks"), std::string::npos) << text;
    EXPECT_NE(text.find("time " + std::to_string(time.value)), std::string::npos) << text;
    EXPECT_NE(text.find("is " + std::to_string(last.value)), std::string::npos) << text;
  }
}

TEST(EncodedLimits, NamesWhereTheNextBufferBegins) {
  const auto stream = stream_in({2, 70, kFar});
  EXPECT_EQ(stream->first_epoch(), Epoch(2));
  EXPECT_EQ(stream->next_beginning(0), Epoch(2));
  EXPECT_EQ(stream->next_beginning(3), Epoch(70));
  stream->release_before(71);
  EXPECT_EQ(stream->next_beginning(71), kFar);
  EXPECT_EQ(stream->next_beginning(kFar + 1), std::nullopt);
  EXPECT_EQ(stream->end_epoch(), kFar + 1);
}

/// A buffer of epochs 64 to 79 begins before `from`, but the damage in epoch 70 does not.
TEST(EncodedLimits, NamesWhereTheNextDamageBegins) {
  HitBlock lossy = block_at({Tick(70 * kTicksOfEpoch), tick_of_epoch(kFar, kTicksOfEpoch)});
  lossy.losses.push_back({.before = 1, .offset = 9, .hits = 2});
  const auto stream = stream_of({block_at({Tick(64 * kTicksOfEpoch)}), lossy});
  EXPECT_EQ(stream->next_beginning(64), Epoch(64));
  EXPECT_EQ(stream->next_beginning(65), Epoch(70));
  EXPECT_EQ(stream->next_beginning(71), kFar);
}

}  // namespace
}  // namespace eventloom
