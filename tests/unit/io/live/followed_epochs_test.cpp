#include "io/live/followed_epochs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "io/live/damage_records.hpp"
#include "stream_maker.hpp"

namespace eventloom {
namespace {

namespace fs = std::filesystem;

/// The files of a recorder, to which a writer appends a few bytes at a time.
class FollowedEpochsTest : public test::EpochFiles {
 protected:
  static constexpr std::uint64_t kBuffers = 200;
  static constexpr std::uint32_t kHits = 20;

  FollowedEpochsTest() : folder_(fs::path(write({})).parent_path() / "recorder") { fs::create_directories(folder_); }

  [[nodiscard]] std::string file(int number) const {
    return (folder_ / ("source_000.00000" + std::to_string(number) + ".epochs")).string();
  }
  void append(int number, std::size_t piece) const {
    test::StreamMaker maker;
    for (std::uint64_t n = 0; n < kBuffers; ++n) maker.add(Epoch(1000 * static_cast<std::uint64_t>(number) + n), kHits);
    const auto bytes = maker.with_index();
    std::ofstream out(file(number), std::ios::binary);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      out.write(reinterpret_cast<const char*>(bytes.data() + at),
                static_cast<std::streamsize>(std::min(piece, bytes.size() - at)));
      out.flush();
    }
  }
  void end() const { std::ofstream(folder_ / "source_000.end"); }
  [[nodiscard]] std::unique_ptr<FollowedEpochs> follow(bool acknowledges) const {
    return std::make_unique<FollowedEpochs>(
        file(1), std::make_shared<FollowedFiles>((folder_ / "source_000.*.epochs").string()), 1U << 14U, acknowledges);
  }
  [[nodiscard]] int needed() const {
    std::ifstream in(folder_ / "source_000.done");
    int number = 0;
    in >> number;
    return number;
  }

  /// Takes until the feed has ended; the data are safe at once. Returns the number of hits.
  static std::uint64_t take_all(FollowedEpochs& feed) {
    std::uint64_t hits = 0;
    FeedBatch batch;
    while (!batch.ended) {
      batch.clear();
      feed.take(batch);
      for (std::span<const std::byte> rest(batch.buffers); !rest.empty();) {
        const auto header = read_epoch_buffer_header(rest);
        hits += header->n_hits;
        feed.safe_before(header->epochs().end);
        rest = rest.subspan(header->stored_bytes());
      }
      EXPECT_TRUE(batch.damage.empty());
      EXPECT_EQ(feed.anomalies(), 0U);
      std::this_thread::yield();
    }
    feed.safe_before(kForever);
    return hits;
  }

 private:
  fs::path folder_;
};

TEST_F(FollowedEpochsTest, DeliversAllThatIsWrittenAndAcknowledgesIt) {
  append(1, 1U << 20U);
  const auto feed = follow(true);
  std::thread writer([this] {
    append(2, 777);
    end();
  });
  EXPECT_EQ(take_all(*feed), 2 * kBuffers * kHits);
  writer.join();
  EXPECT_FALSE(feed->is_connected());
  EXPECT_EQ(needed(), 3);
}

/// Nobody takes, so that its thread waits for room.
TEST_F(FollowedEpochsTest, EndsWhenStopped) {
  append(1, 1U << 20U);
  end();
  const auto stopped = follow(false);
  stopped->stop();
  EXPECT_LE(take_all(*stopped), kBuffers * kHits);
  const auto full = follow(false);
  EXPECT_TRUE(full->is_connected());
}

}  // namespace
}  // namespace eventloom
