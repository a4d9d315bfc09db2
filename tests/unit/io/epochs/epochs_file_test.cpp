#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/marker_reader.hpp"
#include "io/epochs/epochs_source.hpp"
#include "io/epochs/stream_writer.hpp"

namespace eventloom {
namespace {

using Bytes = std::vector<std::byte>;

struct TimedChannel {
  Tick time;
  std::uint32_t channel;
  friend auto operator<=>(const TimedChannel&, const TimedChannel&) = default;
};

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// What a source returns for a range: the hits of all buffers with intact words, and the damage.
struct Collected {
  std::vector<TimedChannel> hits;
  std::uint64_t hits_in_corrupt_words = 0;
  std::vector<Damage> damage;

  void epoch(Epoch e) { open = e; }
  void hit(std::uint32_t t, std::uint32_t channel, std::span<const std::uint32_t>) {
    hits.push_back({tick_of_epoch(open, 1000) + Tick(t), channel});
  }
  void tag(std::uint32_t) {}
  void peak(Peak) {}
  void histogram(std::uint32_t, std::span<const std::uint32_t>) {}
  void schedule(std::span<const std::uint32_t>) {}
  Epoch open = 0;
};

Collected collect(EpochsSource& source, EpochRange range) {
  Collected out;
  SliceData data;
  source.collect(range, data);
  out.damage = data.damage;
  for (auto piece : data.pieces) {
    while (!piece.empty()) {
      const auto header = read_epoch_buffer_header(piece);
      EXPECT_TRUE(header) << "a source must return buffers with good headers only";
      if (!header) return out;
      const auto words = words_of(*header, piece);
      if (words_intact(*header, words)) {
        const MarkerContext context{header->epochs(), 1000, source.header().payload};
        EXPECT_FALSE(MarkerReader(words, context, out).read());
      } else {
        out.hits_in_corrupt_words += header->n_hits;
      }
      piece = piece.subspan(header->stored_bytes());
    }
  }
  return out;
}

/// A small recording: hits of one source in epochs of 1000 ticks, one buffer per epoch.
class EpochsFile : public testing::Test {
 protected:
  void SetUp() override {
    spdlog::set_level(spdlog::level::off);
    folder_ = std::filesystem::temp_directory_path() / ("epochs_file_test." + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "a.epochs").string();
    std::mt19937 random(3);
    for (Tick t = 500; t < 9'500; t += Tick(1 + random() % 400))
      hits_.push_back({t, static_cast<std::uint32_t>(random() % 64)});
    StreamHeader header;
    header.source = 7;
    header.base = {1000, 1000};
    header.text = "test";
    EpochBufferEncoder encoder(7, 1000, 0, {1, 1});
    Bytes buffers;
    for (const auto& hit : hits_) {
      if (encoder.must_close_before(hit.time)) encoder.close(buffers);
      encoder.add(hit.time, hit.channel, {});
    }
    encoder.close(buffers);
    StreamWriter writer(path_, header);
    writer.append(buffers);
    summary_ = writer.finish();
    good_ = read_file(path_);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    spdlog::set_level(spdlog::level::info);
  }

  /// Offsets of the epoch buffers, and the end of the last one.
  [[nodiscard]] std::vector<std::size_t> buffer_offsets() const {
    std::vector<std::size_t> offsets{decode_stream_header(good_).first_buffer_offset};
    while (const auto header = read_epoch_buffer_header(std::span(good_).subspan(offsets.back()))) {
      offsets.push_back(offsets.back() + header->stored_bytes());
    }
    return offsets;
  }

  /// Opens a changed file and checks what must hold for any change: every hit was recorded, none appears twice, and
  /// those missing are accounted for.
  void expect_sound(const Bytes& bytes, const std::string& what, bool lossless = false) {
    write_file(path_, bytes);
    std::unique_ptr<EpochsSource> source;
    try {
      source = std::make_unique<EpochsSource>(path_);
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(path_), std::string::npos) << what;
      return;
    }
    if (source->header().base.epoch_ticks != 1000 || source->header().payload.any()) return;
    auto all = collect(*source, {0, 1'000'000});
    std::ranges::sort(all.hits);
    EXPECT_TRUE(std::ranges::adjacent_find(all.hits) == all.hits.end()) << what << ": a hit twice";
    EXPECT_TRUE(std::ranges::includes(hits_, all.hits)) << what << ": a hit that was never recorded";
    std::uint64_t lost = all.hits_in_corrupt_words;
    for (const auto& damage : all.damage) lost += damage.n_hits;
    EXPECT_EQ(source->hits_read(), all.hits.size() + lost) << what << ": the account does not add up";
    // A file cut exactly between two buffers was not closed, which is reported, too.
    const bool reported =
        lost != 0 || source->anomalies() != 0 || !all.damage.empty() || source->index_state() == IndexState::missing;
    if (lossless) {
      EXPECT_EQ(all.hits, hits_) << what;
    } else if (all.hits != hits_) {
      EXPECT_TRUE(reported) << what << ": hits are missing and nothing is reported";
    }
  }

  std::filesystem::path folder_;
  std::string path_;
  std::vector<TimedChannel> hits_;
  StreamSummary summary_;
  Bytes good_;
};

TEST_F(EpochsFile, GivesBackWhatWasWritten) {
  EpochsSource source(path_);
  EXPECT_EQ(source.index_state(), IndexState::good);
  EXPECT_EQ(source.header().source, 7U);
  EXPECT_EQ(source.header().text, "test");
  EXPECT_EQ(summary_.hits, hits_.size());
  EXPECT_EQ(summary_.first_tick, hits_.front().time);
  EXPECT_EQ(summary_.last_tick, hits_.back().time);
  EXPECT_EQ(source.first_epoch(), epoch_of(hits_.front().time, 1000));
  EXPECT_EQ(source.end_epoch(), epoch_of(hits_.back().time, 1000) + 1);
  EXPECT_EQ(collect(source, {0, 100}).hits, hits_);
  EXPECT_EQ(source.hits_read(), hits_.size());
  EXPECT_EQ(source.anomalies(), 0U);
}

TEST_F(EpochsFile, GivesJustTheBuffersOfARange) {
  EpochsSource source(path_);
  for (Epoch begin = 0; begin < 10; ++begin) {
    for (Epoch end = begin + 1; end < 12; ++end) {
      std::vector<TimedChannel> expected;
      for (const auto& hit : hits_) {
        if (epoch_of(hit.time, 1000) >= begin && epoch_of(hit.time, 1000) < end) expected.push_back(hit);
      }
      EXPECT_EQ(collect(source, {begin, end}).hits, expected) << begin.value << " to " << end.value;
    }
  }
}

TEST_F(EpochsFile, ReadsAFileWithoutIndexByScanning) {
  Bytes cut = good_;
  cut.resize(buffer_offsets().back());
  expect_sound(cut, "no index", true);
  EpochsSource source(path_);
  EXPECT_EQ(source.index_state(), IndexState::missing);
  EXPECT_EQ(source.anomalies(), 0U);
}

TEST_F(EpochsFile, SurvivesAFlippedBitAnywhere) {
  for (std::size_t i = 0; i < good_.size(); ++i) {
    Bytes bad = good_;
    bad[i] ^= static_cast<std::byte>(1U << (i % 8));
    expect_sound(bad, "bit " + std::to_string(i % 8) + " of byte " + std::to_string(i));
  }
}

TEST_F(EpochsFile, SurvivesTruncationAnywhere) {
  for (std::size_t n = 0; n < good_.size(); ++n) {
    expect_sound(Bytes(good_.begin(), good_.begin() + static_cast<std::ptrdiff_t>(n)), "first " + std::to_string(n));
  }
}

TEST_F(EpochsFile, CountsABufferCutInTheMiddle) {
  const auto offsets = buffer_offsets();
  write_file(path_, Bytes(good_.begin(), good_.begin() + static_cast<std::ptrdiff_t>(offsets.back() - 4)));
  EpochsSource source(path_);
  const auto all = collect(source, {0, 100});
  ASSERT_EQ(all.damage.size(), 1U);
  EXPECT_EQ(all.damage[0].cause, DropCause::corrupt);
  EXPECT_EQ(all.hits.size() + all.damage[0].n_hits, hits_.size());
  EXPECT_EQ(all.damage[0].file_offset, offsets[offsets.size() - 2]);
}

/// Buffer 2 again after buffer 4, with and without the index.
TEST_F(EpochsFile, CountsADuplicatedBuffer) {
  const auto offsets = buffer_offsets();
  const Bytes copy(good_.begin() + static_cast<std::ptrdiff_t>(offsets[2]),
                   good_.begin() + static_cast<std::ptrdiff_t>(offsets[3]));
  Bytes bad = good_;
  bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(offsets[5]), copy.begin(), copy.end());
  bad.resize(offsets.back() + copy.size());
  expect_sound(bad, "duplicate without index", true);
  EpochsSource source(path_);
  const auto all = collect(source, {0, 100});
  ASSERT_EQ(all.damage.size(), 1U);
  EXPECT_EQ(all.damage[0].cause, DropCause::duplicate);
  EXPECT_GT(all.damage[0].n_hits, 0U);
  EXPECT_EQ(all.hits, hits_);
}

TEST_F(EpochsFile, CountsSwappedBuffers) {
  const auto offsets = buffer_offsets();
  const auto at = [&](std::size_t i) { return good_.begin() + static_cast<std::ptrdiff_t>(offsets[i]); };
  Bytes bad(good_.begin(), at(2));
  bad.insert(bad.end(), at(3), at(4));
  bad.insert(bad.end(), at(2), at(3));
  bad.insert(bad.end(), at(4), good_.end());
  for (const bool with_index : {true, false}) {
    Bytes file = bad;
    if (!with_index) file.resize(offsets.back());
    expect_sound(file, with_index ? "swapped with index" : "swapped without index");
    EpochsSource source(path_);
    const auto all = collect(source, {0, 100});
    EXPECT_TRUE(std::ranges::any_of(all.damage, [](const auto& d) { return d.cause == DropCause::out_of_order; }));
    EXPECT_LT(all.hits.size(), hits_.size());
  }
}

// Damage must show in every range that touches it, whichever is read first.
TEST_F(EpochsFile, ShowsDamageInEveryRangeThatTouchesIt) {
  const auto offsets = buffer_offsets();
  Bytes bad = good_;
  bad[offsets[4] + 20] ^= std::byte{1};
  write_file(path_, bad);
  EpochsSource source(path_);
  const auto whole = collect(source, {0, 100});
  ASSERT_EQ(whole.damage.size(), 1U);
  const Epoch epoch = whole.damage[0].first_epoch;
  EXPECT_EQ(collect(source, {epoch, epoch + 1}).damage.size(), 1U);
  EXPECT_EQ(collect(source, {0, epoch + 1}).damage.size(), 1U);
  EXPECT_EQ(collect(source, {0, epoch}).damage.size(), 0U);
  EXPECT_EQ(collect(source, {epoch + 1, 100}).damage.size(), 0U);
}

TEST_F(EpochsFile, LeavesNothingBehindWithoutFinish) {
  const auto path = (folder_ / "b.epochs").string();
  {
    StreamWriter writer(path, {});
    EXPECT_TRUE(std::filesystem::exists(path + ".partial"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_F(EpochsFile, SaysWhatCannotBeOpened) {
  EXPECT_THROW(EpochsSource((folder_ / "none.epochs").string()), UserError);
  EXPECT_THROW(EpochsSource(folder_.string()), UserError);
  EXPECT_THROW(StreamWriter((folder_ / "no" / "folder.epochs").string(), {}), UserError);
}

}  // namespace
}  // namespace eventloom
