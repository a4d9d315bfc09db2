#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/datagram.hpp"

namespace eventloom {

/// The sender that has taken a silent board's place at another address: the board, moved or restarted, or a stranger,
/// until the board is heard again. Its end, which cannot be taken back, is therefore not believed at once.
class BoardSuccessor {
 public:
  /// An end that follows data of another session is believed after this time, if the board has not come back by then.
  static constexpr std::int64_t kEndWaits_ns = 5'000'000'000;

  enum class End {
    believed,  ///< the board has moved: its session continues with data
    waits,     ///< see kEndWaits_ns; due_end() returns it then
    refused    ///< no data came from the new address
  };

  /// `former`: the board's session before.
  explicit BoardSuccessor(std::optional<std::uint32_t> former) : former_(former) {}

  /// Notes a datagram that was believed.
  void note(const DatagramHeader& header) { has_data_ |= header.kind == DatagramKind::data; }
  End judge_end(const Datagram& end, std::int64_t now_ns);
  [[nodiscard]] bool waits() const { return end_.has_value(); }

  /// An end that has waited for long enough.
  struct DueEnd {
    DatagramHeader header;
    std::vector<std::byte> contents;
    std::int64_t since_ns = 0;
  };
  [[nodiscard]] const DueEnd* due_end(std::int64_t now_ns) const {
    return end_ && now_ns - end_->since_ns >= kEndWaits_ns ? &*end_ : nullptr;
  }

 private:
  std::optional<std::uint32_t> former_;
  bool has_data_ = false;
  std::optional<DueEnd> end_;
};

}  // namespace eventloom
