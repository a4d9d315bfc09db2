#include "io/epochs/followed_stream_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "core/runtime/error.hpp"
#include "stream_maker.hpp"

namespace eventloom {
namespace {

using test::Bytes;
using test::StreamMaker;
using Item = FollowedStreamFile::Item;

constexpr std::size_t kBuffers = 3;

/// A file that grows, and what its writer would put there.
class FollowedStream : public test::EpochFiles {
 protected:
  FollowedStream() {
    for (std::size_t i = 0; i < kBuffers; ++i) {
      ends_.push_back(maker_.without_index().size());
      maker_.add(Epoch(10 * (i + 1)), 50);
    }
    ends_.push_back(maker_.without_index().size());
    whole_ = maker_.with_index();
  }

  [[nodiscard]] Bytes begin(std::size_t bytes) const {
    return {whole_.begin(), whole_.begin() + static_cast<std::ptrdiff_t>(bytes)};
  }
  /// The end of buffer `n` - 1, from which buffer `n` is appended; of the header for 0.
  [[nodiscard]] std::size_t end(std::size_t n) const { return ends_.at(n); }

  std::unique_ptr<FollowedStreamFile> follow(const Bytes& bytes) {
    path_ = write(bytes);
    return std::make_unique<FollowedStreamFile>(
        path_, std::make_shared<FollowedFiles>(std::filesystem::path(path_).parent_path() / "*.epochs"));
  }
  void rewrite(const Bytes& bytes) const { static_cast<void>(write(bytes)); }
  void finish() const { std::ofstream(std::filesystem::path(path_).replace_extension(".end")); }
  void cut(std::size_t bytes) const { std::filesystem::resize_file(path_, bytes); }

  static void expect_buffer(FollowedStreamFile& file, Epoch epoch) {
    ASSERT_EQ(file.next(), Item::buffer) << file.defect();
    EXPECT_EQ(read_epoch_buffer_header(file.stored())->first_epoch, epoch);
  }
  static void expect_buffers(FollowedStreamFile& file, std::size_t first, std::size_t n) {
    for (auto i = first; i < first + n; ++i) expect_buffer(file, Epoch(10 * (i + 1)));
  }
  static void expect_pauses(FollowedStreamFile& file) {
    for (int look = 0; look < 4; ++look) ASSERT_EQ(file.next(), Item::pause) << file.defect();
  }
  static void expect_damage(FollowedStreamFile& file, Item item, const std::string& words) {
    EXPECT_EQ(file.next(), Item::pause) << "a second look decides";
    EXPECT_EQ(file.next(), item);
    EXPECT_NE(file.defect().find(words), std::string::npos) << file.defect();
  }

  StreamMaker maker_;
  std::vector<std::size_t> ends_;
  Bytes whole_;
  std::string path_;
};

TEST_F(FollowedStream, WhatIsNotWholeIsAwaitedWhereverItEnds) {
  for (std::size_t at = end(1); at < end(kBuffers); at += 28) {
    const auto file = follow(begin(at));
    const std::size_t n = at < end(2) ? 1 : 2;
    expect_buffers(*file, 0, n);
    expect_pauses(*file);
    rewrite(whole_);
    expect_buffers(*file, n, kBuffers - n);
    EXPECT_EQ(file->next(), Item::end);
    EXPECT_TRUE(file->has_index());
  }
}

/// The recorder is killed, and the next one cuts off the incomplete buffer and appends the index.
TEST_F(FollowedStream, AnIncompleteBufferIsCutOff) {
  StreamMaker first;
  first.add(10, 50);
  const auto indexed = first.with_index();
  for (std::size_t at = end(1); at < end(2); at += 28) {
    for (const bool seen_cut : {false, true}) {
      const auto file = follow(begin(at));
      expect_buffers(*file, 0, 1);
      expect_pauses(*file);
      if (seen_cut) {
        cut(end(1));
        expect_pauses(*file);
      }
      rewrite(indexed);
      EXPECT_EQ(file->next(), Item::end);
      EXPECT_TRUE(file->has_index());
    }
  }
}

/// Between two looks, so that the size does not reveal it.
TEST_F(FollowedStream, WhatIsCutOffAndReplacedIsReadAgain) {
  StreamMaker other;
  other.add(10, 50);
  other.add(15, 70);
  other.add(40, 1);
  for (std::size_t at = end(1); at < end(2); at += 28) {
    const auto file = follow(begin(at));
    expect_buffers(*file, 0, 1);
    EXPECT_EQ(file->next(), Item::pause);
    rewrite(other.with_index());
    expect_buffer(*file, 15);
    expect_buffer(*file, 40);
    EXPECT_EQ(file->next(), Item::end);
  }
}

/// A look may see both the old and the new bytes, or a size before its bytes.
TEST_F(FollowedStream, AMixtureIsNotTakenForDamage) {
  for (const std::size_t from : {end(1) + 20, end(1) + 80}) {  // in the header, in the words
    auto mixed = whole_;
    std::fill(mixed.begin() + static_cast<std::ptrdiff_t>(from), mixed.end(), std::byte{0});
    const auto file = follow(mixed);
    expect_buffers(*file, 0, 1);
    expect_pauses(*file);
    rewrite(whole_);
    expect_buffers(*file, 1, 2);
  }
}

TEST_F(FollowedStream, CutAtTheEndOfABufferNothingIsLost) {
  const auto file = follow(begin(end(2)));
  expect_buffers(*file, 0, 1);
  rewrite(begin(end(1)));  // the second one was read with the first, and is whole
  expect_buffer(*file, 20);
  expect_damage(*file, Item::broken, "shorter");
  const auto patient = follow(begin(end(2) + 100));
  expect_buffers(*patient, 0, 2);
  cut(end(2));
  expect_pauses(*patient);
  rewrite(whole_);
  expect_buffers(*patient, 2, 1);
}

TEST_F(FollowedStream, WhatWasWholeMustStay) {
  for (const std::size_t at : {end(2) - 1, end(1), end(0), std::size_t{50}, std::size_t{0}}) {
    const auto file = follow(begin(end(2)));
    expect_buffers(*file, 0, 2);
    expect_pauses(*file);
    cut(at);
    expect_damage(*file, Item::broken, "shorter");
  }
}

TEST_F(FollowedStream, AnotherFileInItsPlaceIsDamage) {
  const auto replaced = follow(begin(end(2)));
  std::filesystem::rename(path_, path_ + ".old");
  rewrite(whole_);
  expect_buffers(*replaced, 0, 2);
  expect_damage(*replaced, Item::broken, "replaced");
  const auto removed = follow(begin(end(2)));
  std::filesystem::remove(path_);
  expect_buffers(*removed, 0, 2);
  expect_damage(*removed, Item::broken, "removed");
  const auto acknowledged = follow(begin(end(2)));
  finish();
  std::filesystem::remove(path_);
  expect_buffers(*acknowledged, 0, 2);
  EXPECT_EQ(acknowledged->next(), Item::end);
}

TEST_F(FollowedStream, TheHeaderMustBeWhole) {
  for (std::size_t at = 0; at < end(0); at += 5) {
    EXPECT_THROW(follow(begin(at)), UserError) << at;
    EXPECT_FALSE(has_stream_header(path_));
  }
  const auto file = follow(begin(end(0)));
  EXPECT_TRUE(has_stream_header(path_));
  expect_pauses(*file);
}

TEST_F(FollowedStream, TheEndOfAFinalFileIsLost) {
  const auto file = follow(begin(end(2) + 100));
  expect_buffers(*file, 0, 2);
  expect_pauses(*file);
  finish();
  expect_damage(*file, Item::cut, "middle of an epoch buffer");
  EXPECT_EQ(file->hits_cut(), 50U);
  EXPECT_EQ(file->next(), Item::end);
}

TEST_F(FollowedStream, DamageShowsOnceSomethingFollows) {
  for (const std::size_t at : {end(1) + 20, end(1) + 80}) {
    const bool words = at == end(1) + 80;
    auto damaged = whole_;
    damaged[at] ^= std::byte{1};
    const auto file = follow({damaged.begin(), damaged.begin() + static_cast<std::ptrdiff_t>(end(2))});
    expect_buffers(*file, 0, 1);
    expect_pauses(*file);
    rewrite(damaged);
    expect_damage(*file, words ? Item::buffer : Item::gap, words ? "words" : "skipped");
    if (words) {
      const auto header = read_epoch_buffer_header(file->stored());
      EXPECT_FALSE(words_intact(*header, words_of(*header, file->stored())));
    }
    expect_buffers(*file, 2, 1);
    EXPECT_EQ(file->next(), Item::end);
  }
}

TEST_F(FollowedStream, MuchThatIsNoBufferIsSkippedPieceByPiece) {
  auto bytes = begin(end(1));
  bytes.resize(bytes.size() + 3'000'000, std::byte{0x55});
  const auto file = follow(bytes);
  expect_buffers(*file, 0, 1);
  EXPECT_EQ(file->next(), Item::pause);
  EXPECT_EQ(file->next(), Item::gap);
  EXPECT_EQ(file->next(), Item::pause);
  bytes.insert(bytes.end(), whole_.begin() + static_cast<std::ptrdiff_t>(end(1)), whole_.end());
  rewrite(bytes);
  std::size_t gaps = 0;
  auto item = file->next();
  for (; item == Item::gap || item == Item::pause; item = file->next()) gaps += item == Item::gap ? 1 : 0;
  EXPECT_EQ(gaps, 2U);
  EXPECT_EQ(item, Item::buffer);
  EXPECT_EQ(read_epoch_buffer_header(file->stored())->first_epoch, Epoch(20));
}

/// A writer appends buffers in pieces; now and then it dies in one, and another cuts it off and goes on differently.
TEST_F(FollowedStream, AWriterThatDiesAgainAndAgain) {
  constexpr std::size_t kMany = 500;
  const auto file = follow(begin(end(0)));
  std::thread writer([this] {
    std::mt19937 dice(5);
    StreamMaker stream;
    std::size_t at = stream.without_index().size();
    for (std::size_t n = 0; n < kMany; ++n) {
      StreamMaker torn = stream;
      torn.add(Epoch(10 * n + 5), 1 + dice() % 200);
      stream.add(Epoch(10 * n + 1), 1 + dice() % 200);
      std::ofstream out(path_, std::ios::binary | std::ios::app);
      const auto append = [&out](const Bytes& bytes, std::size_t from, std::size_t to) {
        out.write(reinterpret_cast<const char*>(bytes.data() + from), static_cast<std::streamsize>(to - from));
        out.flush();
      };
      if (dice() % 3 == 0) {
        append(torn.without_index(), at, at + dice() % (torn.without_index().size() - at));
        cut(at);
      }
      const std::size_t end = stream.without_index().size();
      const std::size_t middle = at + dice() % (end - at);
      append(stream.without_index(), at, middle);
      append(stream.without_index(), middle, end);
      at = end;
    }
    finish();
  });
  std::size_t n = 0;
  auto item = file->next();
  for (; item == Item::buffer || item == Item::pause; item = file->next()) {
    if (item == Item::pause) continue;
    EXPECT_EQ(read_epoch_buffer_header(file->stored())->first_epoch, Epoch(10 * n + 1));
    ++n;
  }
  writer.join();
  EXPECT_EQ(item, Item::end) << file->defect();
  EXPECT_EQ(n, kMany);
}

}  // namespace
}  // namespace eventloom
