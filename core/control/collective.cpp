#include "core/control/collective.hpp"

namespace eventloom {

std::vector<std::string> Collective::all_gather(const std::string& mine) const {
  const auto sizes = all_gather(mine.size());
  std::string all(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), '\0');
  gather_bytes(std::as_bytes(std::span(mine)), sizes, std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const auto size : sizes) {
    texts.push_back(all.substr(at, size));
    at += size;
  }
  return texts;
}

std::string Collective::broadcast(std::string mine) const {
  mine.resize(broadcast(mine.size()));
  broadcast_bytes(std::as_writable_bytes(std::span(mine)));
  return mine;
}

}  // namespace eventloom
