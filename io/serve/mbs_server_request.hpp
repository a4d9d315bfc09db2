#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

enum class MbsRequest : std::uint8_t { events, close, unknown };

/// A request of an MBS client: 12 bytes, `GETEVT` or `CLOSE`, then NUL, then anything.
class MbsRequestDecoder {
 public:
  static constexpr std::size_t kRequestBytes = 12;

  /// Takes bytes off the front of `bytes`: returns a request once it is complete, else nothing and `bytes` is empty.
  std::optional<MbsRequest> take(std::span<const std::byte>& bytes);
  /// Whether the rest of a request has to come.
  [[nodiscard]] bool has_begun() const { return size_ != 0; }

 private:
  std::array<std::byte, kRequestBytes> begun_{};
  std::size_t size_ = 0;
};

}  // namespace eventloom
