#pragma once

#include <cstdint>
#include <vector>

#include "app/command/common_clock.hpp"
#include "app/tools/bench/measured_times.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// When each message of a traffic was sent and received. Each rank notes the messages that it sends and receives; the
/// notes are combined afterwards. A rank notes its first million or two of messages, at 16 bytes each; later ones are
/// not timed. Construction and destruction are collective.
class MessageTimes {
 public:
  explicit MessageTimes(const Communicator& communicator);

  /// This rank collects its message of a slice, in order to send it.
  void sent(std::uint64_t slice) { note(sent_, slice); }
  /// This rank has received the message of rank `origin` for a slice completely.
  void received(std::uint32_t origin, std::uint64_t slice) { note(received_[origin], slice); }

  /// Collective. Returns, on rank 0, the times from sending to receiving of all messages that both ends have noted, by
  /// receiver and sender.
  [[nodiscard]] MeasuredTimes gather(TimesKept kept);

 private:
  struct Note {
    std::uint64_t slice = 0;
    std::int64_t ns = 0;
  };
  void note(std::vector<Note>& notes, std::uint64_t slice);
  static void by_slice(std::vector<Note>& notes);

  const Communicator& communicator_;
  CommonClock clock_;
  std::size_t most_;
  std::vector<Note> sent_;
  std::vector<std::vector<Note>> received_;  ///< one list per origin
};

}  // namespace eventloom
