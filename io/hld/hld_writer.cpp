#include "io/hld/hld_writer.hpp"

#include <array>
#include <cstring>
#include <string>

#include "io/files/own_file.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kHldMark = 0x4c545645;  ///< bytes "EVTL", in the word where DABC writes 0
constexpr std::size_t kUnusedWord = 7;

void append_hld_words(std::span<const std::uint32_t> words, std::vector<std::byte>& to) {
  const auto bytes = std::as_bytes(words);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::size_t append_hld_event(const HldEventHeader& event, std::uint32_t unused, std::vector<std::byte>& to) {
  const auto begin = to.size();
  const std::array<std::uint32_t, kHldEventHeaderBytes / 4> words = {
      kHldEventHeaderBytes, kHldEventDecoding, event.id, event.number, event.date, event.time, event.run, unused};
  append_hld_words(words, to);
  return begin;
}

}  // namespace

void set_hld_time(HldEventHeader& event, std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  event.date = static_cast<std::uint32_t>(static_cast<int>(date.year()) - 1900) << 16 |
               (static_cast<unsigned>(date.month()) - 1) << 8 | static_cast<unsigned>(date.day());
  event.time =
      static_cast<std::uint32_t>(clock.hours().count() << 16 | clock.minutes().count() << 8 | clock.seconds().count());
}

std::size_t begin_hld_event(const HldEventHeader& event, std::vector<std::byte>& to) {
  return append_hld_event(event, 0, to);
}

void append_hld_subevent(const HldSubeventHeader& header, std::span<const std::byte> data, std::vector<std::byte>& to) {
  std::array<std::uint32_t, kHldSubeventHeaderBytes / 4> words = {header.size, header.decoding, header.id,
                                                                  header.trigger_number};
  if (header.big_endian) {
    for (auto& word : words) word = __builtin_bswap32(word);
  }
  append_hld_words(words, to);
  const auto at = to.size();
  to.resize(at + hld_padded(data.size()));
  if (header.big_endian) {
    copy_hld_reversed(data, header.word_bytes(), to.data() + at);
  } else if (!data.empty()) {
    std::memcpy(to.data() + at, data.data(), data.size());
  }
}

void end_hld_event(std::size_t begin, std::vector<std::byte>& to) {
  const auto size = static_cast<std::uint32_t>(to.size() - begin);
  std::memcpy(to.data() + begin, &size, sizeof size);
}

void append_hld_begin(HldEventHeader event, std::vector<std::byte>& to) {
  event.id = kHldBeginRun;
  append_hld_event(event, kHldMark, to);
}

void append_hld_end(HldEventHeader event, std::vector<std::byte>& to) {
  event.id = kHldEndRun;
  append_hld_event(event, 0, to);
}

bool is_written_hld(const std::filesystem::path& file) {
  std::array<std::uint32_t, kHldEventHeaderBytes / 4> words{};
  const auto head = head_of(file, sizeof words);
  std::memcpy(words.data(), head.data(), head.size());
  return words[0] == kHldEventHeaderBytes && words[1] == kHldEventDecoding && words[2] == kHldBeginRun &&
         words[kUnusedWord] == kHldMark;
}

}  // namespace eventloom
