#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "formats/lmd.hpp"
#include "io/lmd/lmd_event.hpp"
#include "io/serve/mbs_sender_packer.hpp"

/// Events for the packer, and a plain reader of the packer's output.
namespace eventloom::test {

/// An event of one subevent, with its data. `event` views the data, so that copies are not valid events.
struct MadeEvent {
  MadeEvent(std::uint32_t number, std::size_t halfwords) : data(2 * halfwords) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(number + 7 * i);
    event.number = number;
    event.trigger = 3;
    event.dummy = 9;
    event.dlen = static_cast<std::uint32_t>(4 + 6 + halfwords);
    LmdSubevent sub;
    sub.dlen = static_cast<std::uint32_t>(2 + halfwords);
    sub.type = 11;
    sub.subtype = 2;
    sub.procid = 77;
    sub.crate = 5;
    sub.control = 6;
    sub.data = data;
    event.subevents.push_back(sub);
  }
  MadeEvent(const MadeEvent&) = delete;
  MadeEvent& operator=(const MadeEvent&) = delete;

  /// The bytes as in a file.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(28 + data.size());
    const auto put = [&](std::size_t at, std::uint32_t word) { std::memcpy(all.data() + at, &word, sizeof word); };
    put(0, event.dlen);
    put(4, 10 | 1U << 16);
    put(8, event.dummy | std::uint32_t{event.trigger} << 16);
    put(12, event.number);
    put(16, event.subevents[0].dlen);
    put(20, 11 | 2U << 16);
    put(24, 77 | 5U << 16 | 6U << 24);
    std::copy(data.begin(), data.end(), all.begin() + 28);
    return all;
  }

  std::vector<std::byte> data;
  LmdEvent event;
};

struct ReadBuffer {
  LmdBufferHeader header;
  std::vector<std::byte> used;
};

/// The buffers of a group in little-endian order.
inline std::vector<ReadBuffer> read_buffers(std::span<const std::byte> bytes) {
  std::vector<ReadBuffer> buffers;
  while (!bytes.empty()) {
    ReadBuffer buffer{.header = load_lmd<LmdBufferHeader>(bytes), .used = {}};
    const auto used = bytes.subspan(kLmdHeaderBytes, 2 * std::size_t{buffer.header.used()});
    buffer.used.assign(used.begin(), used.end());
    bytes = bytes.subspan(kLmdHeaderBytes + 2 * std::size_t{buffer.header.element.dlen});
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

/// The events of whole groups, reassembled from their fragments.
inline std::vector<std::vector<std::byte>> read_events(std::span<const ReadBuffer> buffers) {
  std::vector<std::vector<std::byte>> events;
  std::vector<std::byte> open;
  for (const auto& buffer : buffers) {
    std::span<const std::byte> rest = buffer.used;
    bool first = true;
    while (!rest.empty()) {
      const auto size = static_cast<std::size_t>(load_lmd<LmdElement>(rest).bytes());
      const bool continues = first && buffer.header.continues != 0;
      const auto piece = rest.first(size).subspan(continues ? sizeof(LmdElement) : 0);
      open.insert(open.end(), piece.begin(), piece.end());
      rest = rest.subspan(size);
      first = false;
      if (rest.empty() && buffer.header.has_more != 0) break;
      const auto dlen = static_cast<std::uint32_t>((open.size() - sizeof(LmdElement)) / 2);
      std::memcpy(open.data(), &dlen, sizeof dlen);
      events.push_back(std::exchange(open, {}));
    }
  }
  return events;
}

}  // namespace eventloom::test
