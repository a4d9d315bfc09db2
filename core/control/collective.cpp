#include "core/control/collective.hpp"

namespace eventloom {

namespace {

void append_with_length(std::string& message, const std::string& text) {
  const std::size_t size = text.size();
  message.append(reinterpret_cast<const char*>(&size), sizeof size);
  message += text;
}

/// Splits a message into the texts appended to it.
std::vector<std::string> texts_in(const std::string& message) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < message.size(); at += texts.back().size()) {
    std::size_t size = 0;
    std::memcpy(&size, message.data() + at, sizeof size);
    at += sizeof size;
    texts.push_back(message.substr(at, size));
  }
  return texts;
}

}  // namespace

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

std::vector<std::vector<std::string>> Collective::all_gather(const std::vector<std::string>& mine) const {
  std::string message;
  for (const auto& text : mine) append_with_length(message, text);
  std::vector<std::vector<std::string>> all;
  for (const auto& of_rank : all_gather(message)) all.push_back(texts_in(of_rank));
  return all;
}

std::string Collective::broadcast(std::string mine) const {
  mine.resize(broadcast(mine.size()));
  broadcast_bytes(std::as_writable_bytes(std::span(mine)));
  return mine;
}

}  // namespace eventloom
