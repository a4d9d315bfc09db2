#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "fuzz_input.hpp"
#include "io/lmd/lmd_buffer_events.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/mbs/mbs_decoder.hpp"

// Bytes that an MBS server may send, in pieces: the first byte determines how they are cut. For any input, memory is
// limited by the data received, buffers are contiguous and found however the bytes are cut, and all events lie in them.

namespace {

using namespace eventloom;
using Found = MbsDecoder::Found;

/// The result of one way of cutting.
struct Outcome {
  std::vector<Found> found;
  std::vector<std::uint64_t> offsets;
  std::uint64_t events = 0;
  std::uint64_t subevents = 0;
  std::size_t problems = 0;

  bool operator==(const Outcome&) const = default;
};

class Client {
 public:
  Outcome run(std::span<const std::byte> bytes, std::size_t piece) {
    std::size_t at = 0;
    while (at < bytes.size() && !over_) {
      const auto room = decoder_.room();
      fuzz::require(!room.empty() && room.size() <= (1U << 20), "memory is limited by the data received");
      const std::size_t n = std::min({piece, bytes.size() - at, room.size()});
      std::memcpy(room.data(), bytes.data() + at, n);
      decoder_.took(n);
      at += n;
      find_all();
    }
    if (!over_ && decoder_.cut()) take_buffer();
    events_.end("the end");
    outcome_.problems = notes_.problems.size();
    return outcome_;
  }

 private:
  void find_all() {
    for (auto found = decoder_.next(); found != Found::nothing && !over_; found = decoder_.next()) {
      outcome_.found.push_back(found);
      over_ = found == Found::garbage || found == Found::disconnect;
      if (found == Found::garbage) fuzz::require(!decoder_.defect().empty(), "garbage is explained");
      if (found == Found::buffer) take_buffer();
      if (found == Found::empty) events_.pass(decoder_.buffer().header.number);
      fuzz::require(decoder_.offset() >= end_, "buffers lie back to back");
      end_ = decoder_.offset();
    }
  }

  void take_buffer() {
    const auto& buffer = decoder_.buffer();
    fuzz::require(buffer.bytes.size() >= kLmdHeaderBytes && buffer.bytes.size() <= buffer.length,
                  "a buffer has its header, and no more than its length");
    fuzz::require(buffer.length <= decoder_.handshake().max_bytes, "no buffer is larger than was announced");
    outcome_.offsets.push_back(buffer.offset);
    if (const auto defect = buffer.defect()) return events_.skip(buffer, *defect);
    events_.begin(buffer);
    LmdEvent event;
    while (events_.next(event)) {
      ++outcome_.events;
      outcome_.subevents += event.subevents.size();
      std::uint64_t size = sizeof(LmdEventHeader);
      for (const auto& sub : event.subevents) size += sizeof(LmdSubeventHeader) + sub.data.size();
      fuzz::require(size == 8 + 2 * std::uint64_t{event.dlen}, "subevents fill their event");
    }
    events_.leave();
  }

  MbsDecoder decoder_{0};
  LmdNotes notes_;
  LmdBufferEvents events_{notes_};
  Outcome outcome_;
  std::uint64_t end_ = 0;
  bool over_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = fuzz::bytes_of(data + 1, size - 1);
  const auto pieces = std::make_unique<Client>()->run(bytes, 1 + data[0] % 64);
  const auto whole = std::make_unique<Client>()->run(bytes, bytes.size() + 1);
  fuzz::require(pieces == whole, "how the bytes are split does not matter");
  return 0;
}
