#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "io/hld/hld_file.hpp"
#include "io/udp/udp_sender.hpp"

namespace eventloom {

struct TrbPlaySettings {
  std::vector<std::string> to;  ///< HOST:PORT of each board
  double rate = 0;              ///< events a second; 0: as fast as possible
  std::uint64_t bandwidth = 0;  ///< bytes a second, of all datagrams, at most; 0: no limit
  std::uint64_t passes = 1;
};

/// Sends the subevents of recorded events as TRB boards would send them (formats/trb.hpp): those of one id to one port,
/// in the order in which the ids appear, as they are. In each further pass event numbers continue.
class TrbPlayer {
 public:
  /// Throws UserError for an unusable address.
  explicit TrbPlayer(TrbPlaySettings settings);

  /// Plays the files, back to back, until `stopped` returns true. Throws UserError when a file cannot be read or has
  /// more subevent ids than there are ports.
  void play(const std::vector<std::string>& files, const std::function<bool()>& stopped);
  /// A line for each port.
  void print(std::ostream& out) const;
  /// Damaged places of the files, and events too large to be sent.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  struct Board {
    std::string to;
    std::unique_ptr<UdpSender> sender = {};
    std::optional<std::uint32_t> id = {};   ///< of its subevents
    std::vector<std::byte> subevents = {};  ///< of the event
  };

  void play_file(const std::string& path, const std::function<bool()>& stopped);
  void send(const HldEvent& event);
  Board& board_of(const HldSubevent& subevent);
  void append(const HldSubevent& subevent, std::vector<std::byte>& out) const;
  void send(Board& board);
  void note_number(const HldEvent& event);
  void keep_pace();

  TrbPlaySettings settings_;
  std::vector<Board> boards_;
  std::vector<std::byte> datagram_;
  std::optional<std::uint32_t> first_;  ///< event number of the files
  std::uint32_t last_ = 0;
  std::uint32_t shift_ = 0;  ///< of the numbers in this pass
  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace eventloom
