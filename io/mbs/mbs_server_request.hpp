#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eventloom {

enum class MbsRequest : std::uint8_t { events, close, unknown };

/// What a client of an MBS server says: 12 bytes each, `GETEVT` or `CLOSE`, then NUL, then anything.
class MbsRequestDecoder {
 public:
  static constexpr std::size_t kRequestBytes = 12;

  /// Takes bytes off the front of `bytes`: a request once all of it is there, else nothing and `bytes` is empty.
  std::optional<MbsRequest> take(std::span<const std::byte>& bytes);

 private:
  std::array<std::byte, kRequestBytes> begun_{};
  std::size_t size_ = 0;
};

}  // namespace eventloom
