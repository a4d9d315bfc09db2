#include "io/lmd/lmd_writer.hpp"

#include <cstring>
#include <string>

#include "formats/lmd.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kUnknownWords = 0x7ffffff4;
constexpr std::uint32_t kLmdMark = 0x4c545645;  ///< bytes "EVTL", where DABC and MBS write 0

template <class Header>
void append_lmd(std::vector<std::byte>& to, const Header& header) {
  const std::size_t at = to.size();
  to.resize(at + sizeof header);
  std::memcpy(to.data() + at, &header, sizeof header);
}

LmdFlatHeader written_header() {
  return {.max_words = kUnknownWords,
          .type = 101,
          .subtype = 1,
          .elements = LmdFlatHeader::kUnknownElements,
          .offset_bytes = 8,
          .byte_order = 1,
          .free = kLmdMark};
}

}  // namespace

void append_lmd_event(const LmdEvent& event, std::vector<std::byte>& to) {
  append_lmd(to, LmdEventHeader{.element = {.dlen = event.dlen, .type = 10, .subtype = 1},
                                .dummy = event.dummy,
                                .trigger = event.trigger,
                                .number = event.number});
  for (const auto& sub : event.subevents) {
    append_lmd(to, LmdSubeventHeader{.element = {.dlen = sub.dlen, .type = sub.type, .subtype = sub.subtype},
                                     .procid = sub.procid,
                                     .crate = sub.crate,
                                     .control = sub.control});
    to.insert(to.end(), sub.data.begin(), sub.data.end());
  }
}

void set_lmd_length(LmdEvent& event) {
  std::uint64_t words = LmdEventHeader::kMinDlen;
  for (const auto& sub : event.subevents) words += (sizeof(LmdSubeventHeader) + sub.data.size()) / 2;
  event.dlen = static_cast<std::uint32_t>(words);
}

void append_lmd_header(std::vector<std::byte>& to) { append_lmd(to, written_header()); }

bool is_written_lmd(const std::filesystem::path& file) {
  const auto header = written_header();
  const auto head = head_of(file, sizeof header);
  return head.size() == sizeof header && std::memcmp(head.data(), &header, sizeof header) == 0;
}

}  // namespace eventloom
