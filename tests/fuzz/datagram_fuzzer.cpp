#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "formats/datagram_reply.hpp"
#include "formats/epoch_buffer.hpp"
#include "fuzz_input.hpp"
#include "io/udp/board_stream.hpp"

/// The input describes what a board sends: steps of eight bytes, the first of which determines the meaning of the
/// others. Checksums are set here, since otherwise no code after them would ever be reached. The whole input is also
/// read as one datagram.

namespace {

using namespace eventloom;

using Bytes = std::vector<std::byte>;
constexpr std::size_t kStep = 8;
constexpr std::int64_t kMs = 1'000'000;

/// A number that is usually small, and occasionally near the limit of 64 bits.
std::uint64_t spread(std::uint8_t value) {
  if (value < 192) return value;
  if (value < 248) return std::uint64_t{1} << (value - 192);
  return ~std::uint64_t{0} - (value - 248U);
}

/// Less than BoardPosition::kMostJump_s of TimeBase's own epochs of 65 us: a larger step between neighbours is a jump.
constexpr Epoch kFar = 900'000;

/// Only a jump leads backwards.
bool rises(Epoch from, Epoch to) { return to >= from || from - to > kFar; }

/// Checks what the feed of a run may rely on.
class Checked {
 public:
  void take(std::span<const std::byte> bytes) {
    const Bytes exact(bytes.begin(), bytes.end());  // exactly sized, so that a read beyond it is detected
    if (const auto datagram = read_datagram(exact)) stream_.take(*datagram, now_, out_);
    check();
  }
  void wait(std::int64_t ns) {
    now_ += ns;
    stream_.pass_time(now_, out_);
    const auto request = stream_.request(now_, kRequest);
    fuzz::require(request.empty() || (request.size() <= kRequest && read_reply(request)),
                  "requests are as they must be");
    check();
  }
  void fix_header() { header_.fix(); }
  void finish() {
    stream_.finish(out_);
    check();
    fuzz::require(out_.ended && stream_.held_bytes() == 0, "a stream that is stopped ends and keeps nothing");
    const auto counters = stream_.counters();
    fuzz::require(hits_ == counters[Metric::hits], "the hits counted are those handed over");
    fuzz::require(lost_ == counters[Metric::lost_hits], "the losses counted are those of the damage");
  }

 private:
  void check() {
    fuzz::require(stream_.held_bytes() <= ReassemblyBuffer::kMostBytes, "waiting data are bounded");
    Epoch damaged = complete_;
    for (const auto& damage : out_.damage) {
      fuzz::require(rises(damaged, damage.first_epoch), "damage begins after the complete epochs, and ascends");
      fuzz::require(damage.n_epochs != 0, "damage has a place");
      damaged = damage.first_epoch;
      if (damage.cause == DropCause::lost) lost_ += damage.n_hits;
    }
    const bool jumped = check_buffers();
    fuzz::require(jumped || out_.complete >= complete_, "complete epochs stay complete");
    fuzz::require(!ended_ || (out_.buffers.empty() && out_.damage.empty()), "nothing follows the end");
    complete_ = out_.complete;
    ended_ = out_.ended;
    out_.clear();
  }

  /// Whether any of them jumped back.
  bool check_buffers() {
    Epoch next = complete_;
    bool jumped = false;
    std::vector<std::uint64_t> words((out_.buffers.size() + 7) / 8);
    if (!words.empty()) std::memcpy(words.data(), out_.buffers.data(), out_.buffers.size());
    auto bytes = std::as_bytes(std::span(words));
    while (!bytes.empty()) {
      const auto header = read_epoch_buffer_header(bytes);
      fuzz::require(header && header->stored_bytes() <= bytes.size(), "whole epoch buffers are handed over");
      fuzz::require(words_intact(*header, words_of(*header, bytes)), "intact epoch buffers are handed over");
      fuzz::require(rises(next, header->first_epoch), "epoch buffers ascend");
      fuzz::require(header->epochs().end - 1 <= max_epoch(TimeBase{}.epoch_ticks), "their times fit 64 bits");
      jumped = jumped || header->first_epoch < next;
      next = header->epochs().end;
      hits_ += header->n_hits;
      bytes = bytes.subspan(header->stored_bytes());
    }
    fuzz::require(out_.complete >= next, "data handed over are complete");
    return jumped;
  }

  static constexpr std::size_t kRequest = 200;

  BoardHeader header_{TimeBase{}, {}};
  BoardStream stream_{"board", header_};
  FeedBatch out_;
  std::int64_t now_ = 0;
  Epoch complete_ = 0;
  bool ended_ = false;
  std::uint64_t hits_ = 0;
  std::uint64_t lost_ = 0;
};

/// Sends what the steps describe, by default in order.
class Board {
 public:
  explicit Board(Checked& to) : to_(to) {}

  void step(std::span<const std::uint8_t> s) {
    switch (s[0] % 8) {
      case 0: return make_buffer(s);
      case 1: return send_fragment(s);
      case 2: return send_mark(s);
      case 3: return send_header(s);
      case 4: return to_.wait(static_cast<std::int64_t>(s[1]) * s[2] * kMs);
      case 5: session_ = s[1] % 4; break;
      case 6: change_numbers(s); break;
      default: to_.fix_header();
    }
  }

 private:
  /// Also sends the buffer at once, except in one step of two.
  void make_buffer(std::span<const std::uint8_t> s) {
    EpochBufferHeader header;
    header.source = s[1] == 255 ? 2 : 1;
    header.first_epoch = epoch_ + Epoch(spread(s[2]));
    header.n_epochs = static_cast<std::uint32_t>(spread(s[3]));
    header.n_hits = static_cast<std::uint32_t>(spread(s[4]));
    header.n_words = std::min<std::uint32_t>(header.n_hits, 200);
    header.hits_before = hits_;
    header.sequence = sequence_;
    buffer_.clear();
    append_stored(header, std::vector<std::uint32_t>(header.n_words), buffer_);
    if (s[5] >= 240) buffer_[s[6] * buffer_.size() / 256] ^= std::byte{1};
    sent_as_ = sequence_++;
    hits_ += header.n_hits;
    epoch_ = header.epochs().end;
    if (s[7] % 2 == 0) send_part(0, buffer_.size(), buffer_.size());
  }

  void send_fragment(std::span<const std::uint8_t> s) {
    if (buffer_.empty()) return;
    const std::size_t begin = s[1] * buffer_.size() / 256;
    const std::size_t bytes = std::min<std::size_t>(s[2] + 1, buffer_.size() - begin);
    send_part(begin, bytes, s[3] == 255 ? spread(s[4]) * 8 : buffer_.size());
  }

  void send_part(std::size_t begin, std::size_t bytes, std::size_t whole) {
    DatagramHeader header;
    header.sequence = sent_as_;
    header.offset = static_cast<std::uint32_t>(begin);
    header.buffer_bytes = static_cast<std::uint32_t>(whole);
    send(header, std::span(buffer_).subspan(begin, bytes));
  }

  void send_mark(std::span<const std::uint8_t> s) {
    DatagramHeader header;
    header.kind = s[1] % 16 == 0 ? DatagramKind::end : DatagramKind::mark;
    header.sequence = sequence_ + spread(s[2]);
    const DatagramMark mark{epoch_ + Epoch(spread(s[3])), hits_ + spread(s[4])};
    send(header, std::as_bytes(std::span(&mark, 1)));
  }

  void send_header(std::span<const std::uint8_t> s) {
    DatagramStream stream;
    stream.started_ns = s[1];
    stream.resends = s[2] >= 128;
    stream.begins = s[2] >= 192;
    stream.header.payload = PayloadTable::uniform(s[2] % 2);
    if (s[3] == 255) stream.header.base.tick_ps = s[4] + 1U;
    if (s[5] == 255) stream.header.flags = s[6] % 8;
    auto contents = encode_datagram_stream(stream, 1400);
    if (s[7] == 255) contents.back() ^= std::byte{1};
    DatagramHeader header;
    header.kind = DatagramKind::header;
    send(header, contents);
  }

  void change_numbers(std::span<const std::uint8_t> s) {
    const auto change = [](std::uint64_t& number, std::uint8_t by) {
      number = by < 128 ? number + spread(by) : by - 128U;
    };
    change(sequence_, s[1]);
    change(hits_, s[2]);
    change(epoch_.value, s[3]);
    if (s[4] % 2 == 0) sent_as_ = sequence_;
  }

  void send(DatagramHeader& header, std::span<const std::byte> contents) {
    header.source = 1;
    header.session = session_;
    Bytes bytes(sizeof header + contents.size());
    to_.take(compose_datagram(header, contents, bytes));
  }

  Checked& to_;
  Bytes buffer_;
  std::uint64_t sent_as_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t hits_ = 0;
  Epoch epoch_ = 0;
  std::uint32_t session_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Checked to;
  Board board(to);
  to.take(fuzz::bytes_of(data, size));
  for (std::span rest(data, size); rest.size() >= kStep; rest = rest.subspan(kStep)) board.step(rest.first(kStep));
  to.finish();
  return 0;
}
