#include "io/files/frame_sequence.hpp"

#include <lz4.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "io/files/frame_unpackers.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kZstdMagic = 0xFD2FB528;
constexpr std::uint32_t kLz4Magic = 0x184D2204;
constexpr std::uint32_t kLegacyLz4Magic = 0x184C2102;
constexpr std::uint32_t kSkippedMagic = 0x184D2A50;
constexpr std::uint32_t kSkippedMask = 0xFFFFFFF0;
constexpr std::uint32_t kGzipMagic = 0x00088B1F;
constexpr std::uint32_t kGzipMask = 0x00FFFFFF;  // the fourth byte holds flags

/// A block of `lz4 -l` unpacks to this many bytes, the last one to fewer.
constexpr std::uint32_t kLegacyContents = std::uint32_t{8} << 20;
constexpr std::uint32_t kMaxLegacyBlock = LZ4_COMPRESSBOUND(kLegacyContents);

using Word = std::array<std::byte, kFrameMagicBytes>;

std::uint32_t number_at(std::span<const std::byte> bytes) {
  std::uint32_t number = 0;  // the formats are little-endian, as is this program's host
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

/// The contents of a frame to be skipped, after its magic number.
class SkippedFrame final : public Unpacker {
 public:
  Step step(std::span<const std::byte> in, std::span<std::byte> /*out*/) override {
    Step done;
    while (length_bytes_ < length_.size() && done.taken < in.size()) length_[length_bytes_++] = in[done.taken++];
    if (length_bytes_ < length_.size()) return done;
    const auto n = std::min<std::uint64_t>(number_at(length_) - skipped_, in.size() - done.taken);
    done.taken += n;
    skipped_ += n;
    done.whole = skipped_ == number_at(length_);
    if (done.whole) length_bytes_ = skipped_ = 0;
    return done;
  }

 private:
  Word length_{};
  std::size_t length_bytes_ = 0;  ///< number of bytes of length_ that have been read
  std::uint64_t skipped_ = 0;
};

/// A block of `lz4 -l`, after its length.
class LegacyBlock final : public Unpacker {
 public:
  void begin(std::uint32_t length) {
    length_ = length;
    block_.clear();
  }

  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    Step done;
    if (block_.size() < length_) {
      done.taken = std::min(in.size(), length_ - block_.size());
      block_.insert(block_.end(), in.data(), in.data() + done.taken);
      if (block_.size() < length_) return done;
      done.defect = unpack();
    }
    done.given = std::min(out.size(), end_ - begin_);
    std::copy_n(contents_.begin() + static_cast<std::ptrdiff_t>(begin_), done.given, out.begin());
    begin_ += done.given;
    done.whole = done.defect.empty() && begin_ == end_;
    return done;
  }

 private:
  std::string unpack() {
    contents_.resize(kLegacyContents);
    const auto n =
        LZ4_decompress_safe(reinterpret_cast<const char*>(block_.data()), reinterpret_cast<char*>(contents_.data()),
                            static_cast<int>(length_), static_cast<int>(contents_.size()));
    begin_ = 0;
    end_ = static_cast<std::size_t>(std::max(n, 0));
    return n < 0 ? "invalid data" : "";
  }

  std::size_t length_ = 0;
  std::vector<std::byte> block_;
  std::vector<std::byte> contents_;  ///< [begin_, end_) has not been given
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

class FrameSequence final : public Unpacker {
 public:
  Step step(std::span<const std::byte> in, std::span<std::byte> out) override {
    if (frame_ == nullptr) return begin_frame(in);
    auto done = frame_->step(in, out);
    if (done.whole) frame_ = nullptr;
    return done;
  }

 private:
  Step begin_frame(std::span<const std::byte> in) {
    Step done;
    while (word_bytes_ < word_.size() && done.taken < in.size()) {
      const auto next = in[done.taken++];
      const bool padding = word_bytes_ == 0 && next == std::byte{} && !in_legacy_;  // no magic number begins with zero
      if (!padding) word_[word_bytes_++] = next;
    }
    done.whole = all_zero(std::span(word_).first(word_bytes_));
    if (word_bytes_ < word_.size()) return done;
    word_bytes_ = 0;
    if (done.whole) {
      in_legacy_ = false;
    } else {
      take_word(done);
    }
    return done;
  }

  /// Decides what word_ begins. A frame of `lz4 -l` has no end mark: its next block or another frame may follow.
  void take_word(Step& done) {
    const auto kind = frame_kind(word_);
    const auto number = number_at(word_);
    if (kind == FrameKind::none) {
      if (in_legacy_ && number <= kMaxLegacyBlock) {
        block_.begin(number);
        frame_ = &block_;
      } else if (in_legacy_ && word_.front() == std::byte{}) {
        drop_padding();
      } else {
        done.defect = "neither a frame nor the end of the file follows a frame";
      }
      return;
    }
    in_legacy_ = kind == FrameKind::lz4_legacy;
    done.whole = in_legacy_;
    if (in_legacy_) return;
    if (kind == FrameKind::skipped) {
      frame_ = &skipped_;
      return;
    }
    auto& unpacker = unpackers_[kind];
    if (unpacker == nullptr) unpacker = make_frame_unpacker(kind);
    frame_ = unpacker.get();
    std::array<std::byte, 1> nothing{};  // no format gives anything for its magic number, all of which it takes
    done.defect = frame_->step(word_, nothing).defect;
  }

  /// Zeros and the beginning of a magic number are no length, whatever the number.
  void drop_padding() {
    in_legacy_ = false;
    const auto* const begin = std::ranges::find_if(word_, [](std::byte b) { return b != std::byte{}; });
    word_bytes_ = static_cast<std::size_t>(word_.end() - begin);
    std::copy(begin, word_.cend(), word_.begin());
  }

  Word word_{};
  std::size_t word_bytes_ = 0;  ///< number of bytes of word_ that have been read
  bool in_legacy_ = false;      ///< the last frame is of `lz4 -l`, and may have more blocks
  SkippedFrame skipped_;
  LegacyBlock block_;
  std::map<FrameKind, std::unique_ptr<Unpacker>> unpackers_;
  Unpacker* frame_ = nullptr;  ///< the frame that has begun, if any: one of the above
};

}  // namespace

FrameKind frame_kind(std::span<const std::byte> head) {
  if (head.size() < kFrameMagicBytes) return FrameKind::none;
  const auto magic = number_at(head);
  if (magic == kZstdMagic) return FrameKind::zstd;
  if (magic == kLz4Magic) return FrameKind::lz4;
  if (magic == kLegacyLz4Magic) return FrameKind::lz4_legacy;
  if ((magic & kSkippedMask) == kSkippedMagic) return FrameKind::skipped;
  return (magic & kGzipMask) == kGzipMagic ? FrameKind::gzip : FrameKind::none;
}

std::uint64_t skipped_frame_bytes(std::span<const std::byte> head) {
  return kSkippedFrameHead + number_at(head.subspan(kFrameMagicBytes));
}

std::unique_ptr<Unpacker> make_unpacker() { return std::make_unique<FrameSequence>(); }

}  // namespace eventloom
