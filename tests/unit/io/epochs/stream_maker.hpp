#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "core/runtime/log.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"

namespace eventloom::test {

using Bytes = std::vector<std::byte>;

/// Files are composed by hand here, so that epochs, numbers and counts may be ones that no writer would write.
inline StreamHeader stream_header() {
  StreamHeader header;
  header.source = 7;
  header.base = {1000, 1000};
  return header;
}

inline const Epoch kLastEpoch = max_epoch(stream_header().base.epoch_ticks);

/// A buffer of one epoch with `hits` hits, as if it were number `sequence` of its stream.
inline Bytes make_buffer(Epoch epoch, std::uint32_t hits, std::uint64_t sequence, std::uint64_t hits_before) {
  EpochBufferEncoder encoder(7, 1000, 0, {1, 1});
  const Epoch encoded = std::min(epoch, kLastEpoch);
  for (std::uint32_t i = 0; i < hits; ++i)
    encoder.add(tick_of_epoch(encoded, 1000) + Tick(std::min(i, 999U)), i % 64, {});
  Bytes buffer;
  encoder.close(buffer);
  EpochBufferHeader header;
  std::memcpy(&header, buffer.data(), sizeof header);
  header.first_epoch = epoch;
  header.sequence = sequence;
  header.hits_before = hits_before;
  const auto words = words_of(header, buffer);
  seal(header, words);
  std::memcpy(buffer.data(), &header, sizeof header);
  return buffer;
}

/// The buffers in this order, at the offsets given by their headers and the index.
class StreamMaker {
 public:
  void add(Bytes buffer) {
    EpochBufferHeader header;
    std::memcpy(&header, buffer.data(), sizeof header);
    header.stream_offset = bytes_.size();
    seal(header, words_of(header, buffer));
    std::memcpy(buffer.data(), &header, sizeof header);
    index_.push_back(
        {bytes_.size(), header.first_epoch, header.n_epochs, header.n_hits, header.n_words, header.words_crc});
    hits_ += header.n_hits;
    bytes_.insert(bytes_.end(), buffer.begin(), buffer.end());
  }

  /// Adds the next buffer in sequence.
  void add(Epoch epoch, std::uint32_t hits) { add(make_buffer(epoch, hits, index_.size(), hits_)); }

  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] const Bytes& without_index() const { return bytes_; }

  /// `more_hits`: excess of the trailer's count over the hits in the file.
  [[nodiscard]] Bytes with_index(std::uint64_t more_hits = 0) const {
    StreamFileTrailer trailer;
    trailer.index_offset = bytes_.size();
    trailer.n_buffers = index_.size();
    trailer.n_hits = hits_ + more_hits;
    seal(trailer, index_);
    Bytes file = bytes_;
    const auto index = std::as_bytes(std::span(index_));
    const auto end = std::as_bytes(std::span(&trailer, 1));
    file.insert(file.end(), index.begin(), index.end());
    file.insert(file.end(), end.begin(), end.end());
    return file;
  }

 private:
  Bytes bytes_ = encode_stream_header(stream_header());
  std::vector<IndexEntry> index_;
  std::uint64_t hits_ = 0;
};

/// A folder for the files of one test; nothing is logged.
class EpochFiles : public testing::Test {
 protected:
  EpochFiles() {
    spdlog::set_level(spdlog::level::off);
    std::filesystem::create_directories(folder_);
  }
  ~EpochFiles() override {
    std::filesystem::remove_all(folder_);
    spdlog::set_level(spdlog::level::info);
  }

  [[nodiscard]] std::string write(const Bytes& bytes) const {
    const auto path = (folder_ / "a.epochs").string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("epochs_" + std::to_string(getpid()) + "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// The number of hits in whole buffers that a source returned.
inline std::uint64_t hits_in(const SliceData& data) {
  std::uint64_t hits = 0;
  for (auto piece : data.pieces) {
    while (!piece.empty()) {
      const auto header = read_epoch_buffer_header(piece);
      EXPECT_TRUE(header) << "a source returns whole buffers";
      if (!header) return hits;
      hits += header->n_hits;
      piece = piece.subspan(header->stored_bytes());
    }
  }
  return hits;
}

inline std::uint64_t hits_lost_in(const SliceData& data) {
  std::uint64_t hits = 0;
  for (const auto& damage : data.damage) hits += damage.n_hits;
  return hits;
}

}  // namespace eventloom::test
