#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "formats/crc32c.hpp"
#include "formats/datagram_reply.hpp"
#include "fuzz_input.hpp"
#include "io/udp/bulk_transfer.hpp"
#include "io/udp/resend_window.hpp"

/// The input describes what a board answers during the transfer of a file, and what a receiver requests of a sender:
/// steps of sixteen bytes. Checksums are set here. The whole input is also read as one datagram.

namespace {

using namespace eventloom;

using Bytes = std::vector<std::byte>;
constexpr std::size_t kStep = 16;
constexpr std::size_t kDatagram = 1472;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint32_t kSession = 9;

const Bytes& file() {
  static const Bytes bytes(kBulkBlockBytes + 100'000, std::byte{7});
  return bytes;
}

/// A number that is small, about the size of the file, or near the limit of 64 bits.
std::uint64_t spread(std::uint8_t value) {
  if (value < 192) return std::uint64_t{value} * 6144;
  if (value < 248) return std::uint64_t{1} << (value - 192);
  return ~std::uint64_t{0} - (value - 248U);
}

MissingPiece piece_of(std::span<const std::uint8_t> s) {
  return {spread(s[0]) / kBulkBlockBytes, static_cast<std::uint32_t>(spread(s[1])),
          static_cast<std::uint32_t>(spread(s[2]))};
}

class Host {
 public:
  void step(std::span<const std::uint8_t> s) {
    now_ += s[1] * (s[0] >= 128 ? 100 : 1) * kMs;
    if (s[0] % 4 != 0) answer(s);
    send(s[2] == 255 ? 5000 : 1U << 20);
  }

 private:
  void answer(std::span<const std::uint8_t> s) {
    const std::uint64_t known = spread(s[3]);
    DatagramHeader header{.kind = DatagramKind::status,
                          .session = kSession + (s[4] == 255 ? 1U : 0U),
                          .offset = static_cast<std::uint32_t>(known % kBulkBlockBytes),
                          .sequence = known / kBulkBlockBytes};
    const BulkStatus status{.state = static_cast<BulkState>(s[5] < 240 ? 1 : s[5] - 239),
                            .room = static_cast<std::uint32_t>(spread(s[6])),
                            .bytes = spread(s[7]),
                            .crc = crc_ + (s[8] == 255 ? 1U : 0U),
                            .offer = s[9] % 2 == 0 ? offers_ : s[10]};
    Bytes contents(sizeof status + (s[10] % 3) * sizeof(MissingPiece));
    std::memcpy(contents.data(), &status, sizeof status);
    for (std::size_t i = 0; i < s[10] % 3U; ++i) {
      const auto piece = piece_of(s.subspan(11 + i));
      std::memcpy(contents.data() + sizeof status + i * sizeof piece, &piece, sizeof piece);
    }
    Bytes bytes(sizeof header + contents.size());
    const auto datagram = read_reply(compose_datagram(header, contents, bytes));
    if (datagram) transfer_.take(*datagram, now_);
  }

  void send(std::uint64_t most) {
    std::deque<Bytes> sent;
    const bool over = transfer_.is_over();
    const auto before = transfer_.sent_bytes();
    transfer_.send(now_, most, [&](std::size_t n) { return std::span(sent.emplace_back(n)); });
    fuzz::require(!over || sent.empty(), "nothing is sent after the end");
    fuzz::require(transfer_.sent_bytes() - before <= most + kDatagram, "no more is sent than allowed");
    for (const auto& one : sent) check(one);
    fuzz::require(transfer_.sent_bytes() <= BulkTransfer::kMostTimes * file().size() + BulkTransfer::kFreeBytes +
                                                kMostMissingPieces * kBulkBlockBytes,
                  "what is sent is bounded");
  }

  void check(const Bytes& bytes) {
    const auto datagram = read_reply(bytes);
    fuzz::require(datagram && bytes.size() <= kDatagram, "everything sent is a datagram of the protocol");
    if (datagram->header.kind == DatagramKind::offer) return void(++offers_);
    const auto at = datagram->header.sequence * kBulkBlockBytes + datagram->header.offset;
    fuzz::require(at + datagram->contents.size() <= file().size(), "pieces are of the file");
  }

  std::uint32_t crc_ = 77;
  BulkTransfer transfer_{file(), {crc_, kDatagram, kSession}, 0};
  std::int64_t now_ = 0;
  std::uint32_t offers_ = 0;
};

/// A sender that keeps its last datagrams.
class Sender {
 public:
  void step(std::span<const std::uint8_t> s) {
    now_ += s[1] * kMs;
    if (s[0] % 2 == 0) return add(41 + s[2] * 8U);
    window_.select({s[2], static_cast<std::uint32_t>(spread(s[3])), static_cast<std::uint32_t>(spread(s[4]))}, now_,
                   [&](std::span<const std::byte> bytes) {
                     fuzz::require(read_datagram(bytes).has_value(), "data resent are unchanged");
                     again_ += bytes.size();
                   });
    fuzz::require(again_ <= added_ + ResendWindow::kFreeBytes, "resent data are bounded");
  }

 private:
  void add(std::size_t bytes) {
    DatagramHeader header{.sequence = sequence_++, .buffer_bytes = 4096};
    Bytes datagram(bytes);
    compose_datagram(header, Bytes(bytes - sizeof header), datagram);
    window_.add(header, datagram);
    added_ += bytes;
  }

  ResendWindow window_{6000};
  std::int64_t now_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t again_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::bytes_of(data, size);
  if (const auto datagram = read_reply(bytes)) missing_pieces_of(*datagram);
  Host host;
  Sender sender;
  for (std::span rest(data, size); rest.size() >= kStep; rest = rest.subspan(kStep)) {
    host.step(rest.first(kStep));
    sender.step(rest.first(kStep));
  }
  return 0;
}
