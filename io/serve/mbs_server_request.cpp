#include "io/serve/mbs_server_request.hpp"

#include <algorithm>
#include <string_view>

namespace eventloom {

std::optional<MbsRequest> MbsRequestDecoder::take(std::span<const std::byte>& bytes) {
  const auto size = std::min(bytes.size(), kRequestBytes - size_);
  std::copy_n(bytes.begin(), size, begun_.begin() + static_cast<std::ptrdiff_t>(size_));
  bytes = bytes.subspan(size);
  size_ += size;
  if (size_ < kRequestBytes) return std::nullopt;
  size_ = 0;
  std::string_view word(reinterpret_cast<const char*>(begun_.data()), begun_.size());
  word = word.substr(0, word.find('\0'));
  if (word == "GETEVT") return MbsRequest::events;
  return word == "CLOSE" ? MbsRequest::close : MbsRequest::unknown;
}

}  // namespace eventloom
