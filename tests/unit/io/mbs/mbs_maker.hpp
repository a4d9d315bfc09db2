#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/lmd/lmd_file.hpp"
#include "lmd_maker.hpp"

/// The bytes that an MBS server sends, composed from the protocol's description alone.
namespace eventloom::test {

inline std::string handshake(std::uint32_t max_bytes, std::uint32_t buffers, std::uint32_t streams,
                             std::uint32_t mark = 1) {
  return Bytes().u32(mark).u32(max_bytes).u32(buffers).u32(streams).text();
}
inline std::string variable_handshake() { return handshake(65536, 1, 0); }

/// `buffer` with its number of elements.
inline std::string with_count(std::string buffer, std::uint32_t elements) {
  return buffer.replace(16, 4, Bytes().u32(elements).text());
}

/// A buffer of DABC, as long as its contents.
inline std::string variable_buffer(const std::string& events, unsigned number = 0) {
  return buffer({.size = 48 + events.size(), .number = number, .type = 100}, events);
}

/// Contiguous buffers of `size` bytes, numbered from 1: events that do not fit continue in the next one.
class NativePacker {
 public:
  explicit NativePacker(std::size_t size) : size_(size) {}

  void add(const std::string& event) {
    constexpr std::size_t kLeast = 24;  // fewest bytes of an event at a buffer's end
    if (room() < std::min(kLeast, event.size())) close(false);
    std::string piece = event;
    while (piece.size() > room()) {
      const std::size_t here = room() / 2 * 2;
      const auto rest = piece.substr(here);
      piece.resize(here);
      piece.replace(0, 4, Bytes().u32((here - 8) / 2).text());
      put(piece);
      close(true);
      piece = element(10, 1, rest);
    }
    put(piece);
  }
  std::vector<std::string> finish() {
    if (count_ != 0) close(false);
    return buffers_;
  }

 private:
  [[nodiscard]] std::size_t room() const { return size_ - 48 - body_.size(); }
  void put(const std::string& piece) {
    body_ += piece;
    ++count_;
  }
  void close(bool has_more) {
    const auto number = static_cast<unsigned>(buffers_.size() + 1);
    const BufferFields fields{.size = size_, .number = number, .continues = continues_, .has_more = has_more};
    buffers_.push_back(with_count(buffer(fields, body_), count_));
    continues_ = has_more;
    body_.clear();
    count_ = 0;
  }

  std::size_t size_;
  std::vector<std::string> buffers_;
  std::string body_;
  std::uint32_t count_ = 0;
  bool continues_ = false;
};

inline std::string bytes_of(const LmdEvent& from) {
  std::string subevents;
  for (const auto& sub : from.subevents) {
    Bytes bytes;
    bytes.u32(sub.dlen).u16(sub.type).u16(sub.subtype).u16(sub.procid).u8(sub.crate).u8(sub.control);
    bytes.add({reinterpret_cast<const char*>(sub.data.data()), sub.data.size()});
    subevents += bytes.text();
  }
  return event(from.number, subevents, from.trigger, from.dummy);
}

/// The events of a file, in bytes.
inline std::vector<std::string> events_of(const std::string& path) {
  LmdFile file(path);
  LmdEvent event;
  std::vector<std::string> events;
  while (file.next(event)) events.push_back(bytes_of(event));
  return events;
}

inline std::vector<std::string> native_buffers(const std::vector<std::string>& events, std::size_t size) {
  NativePacker packer(size);
  for (const auto& event : events) packer.add(event);
  return packer.finish();
}

inline std::vector<std::string> variable_buffers(const std::vector<std::string>& events, std::size_t size) {
  std::vector<std::string> buffers;
  std::string body;
  for (const auto& event : events) {
    if (!body.empty() && body.size() + event.size() + 48 > size) {
      buffers.push_back(variable_buffer(body));
      body.clear();
    }
    body += event;
  }
  if (!body.empty()) buffers.push_back(variable_buffer(body));
  return buffers;
}

inline std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) all += part;
  return all;
}

/// Handshake and buffers of a server with the other byte order.
inline std::string joined_swapped(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) all += swapped(part);
  return all;
}

}  // namespace eventloom::test
