#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/datagram.hpp"
#include "io/udp/udp_socket.hpp"

namespace eventloom {

/// The datagrams that one other address has sent in a board's name since the board was last heard. They are kept until
/// it is clear whether the board has moved there, or restarted there, or whether they are a stranger's.
class BoardClaim {
 public:
  /// Most bytes kept: a tenth of a second at 160 MB/s, several seconds of most boards.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

  /// Copies a datagram. Returns false if it is of yet another address, or if there is no room for it.
  bool keep(const Datagram& datagram, const UdpPeer& from);

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] const UdpPeer& from() const { return from_; }
  /// Calls `take(const Datagram&)` for each datagram kept, in their order.
  template <class Take>
  void for_each(Take take) const {
    for (const auto& [header, at, bytes] : kept_) take(Datagram{header, std::span(contents_).subspan(at, bytes)});
  }

 private:
  struct Kept {
    DatagramHeader header;
    std::size_t at = 0;  ///< kind of its contents
    std::size_t bytes = 0;
  };
  UdpPeer from_;
  std::vector<Kept> kept_;
  std::vector<std::byte> contents_;
};

}  // namespace eventloom
