#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

enum class MbsRequest : std::uint8_t { events, close, unknown };

/// Decodes the requests of an MBS client: 12 bytes each, `GETEVT` or `CLOSE`, then NUL, then arbitrary bytes.
class MbsRequestDecoder {
 public:
  static constexpr std::size_t kRequestBytes = 12;

  /// Consumes the front of `bytes`. Returns a request once it is complete, else std::nullopt with `bytes` empty.
  std::optional<MbsRequest> take(std::span<const std::byte>& bytes);
  /// Whether part of a request has been received.
  [[nodiscard]] bool has_begun() const { return size_ != 0; }

 private:
  std::array<std::byte, kRequestBytes> begun_{};
  std::size_t size_ = 0;
};

}  // namespace eventloom
