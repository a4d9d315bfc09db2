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
  double rate = 0;              ///< events per second; 0: as fast as possible
  std::uint64_t bandwidth = 0;  ///< limit for all datagrams together, bytes per second; 0: no limit
  std::uint64_t passes = 1;
};

/// Sends the subevents of recorded events as TRB boards would (formats/trb.hpp). Each id is assigned one port, in the
/// order in which ids appear. Subevents are sent unchanged, except that event numbers continue in each further pass.
class TrbPlayer {
 public:
  /// Throws UserError for an unusable address.
  explicit TrbPlayer(TrbPlaySettings settings);

  /// Plays the files in sequence until `stopped` returns true. Throws UserError if a file cannot be read or has more
  /// subevent ids than there are ports.
  void play(const std::vector<std::string>& files, const std::function<bool()>& stopped);
  /// Prints a line per port.
  void print(std::ostream& out) const;
  /// Number of damaged places in the files and of events too large to be sent.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  struct Board {
    std::string to;
    std::unique_ptr<UdpSender> sender = {};
    std::optional<std::uint32_t> id = {};   ///< id of its subevents
    std::vector<std::byte> subevents = {};  ///< its subevents of the current event
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
  std::optional<std::uint32_t> first_;  ///< first event number of the files
  std::uint32_t last_ = 0;
  std::uint32_t shift_ = 0;  ///< offset of the event numbers in this pass
  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace eventloom
