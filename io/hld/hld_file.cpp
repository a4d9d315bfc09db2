#include "io/hld/hld_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kSearchBytes = std::uint64_t{1} << 20;

bool is_sane(std::uint32_t size) { return size >= kHldEventHeaderBytes && size <= kHldMaxBytes; }

/// The defect of a subevent with `left` bytes of its event remaining; empty if it has none.
std::string flaw_of(const std::optional<HldSubeventHeader>& header, std::size_t left) {
  if (!header && left < kHldSubeventHeaderBytes) return fmt::format("{} bytes, too few for a subevent", left);
  if (!header) return "a subevent whose decoding has no byte order";
  if (header->size < kHldSubeventHeaderBytes || header->size > left) {
    return fmt::format("a subevent of {} bytes where {} to {} are possible", header->size, kHldSubeventHeaderBytes,
                       left);
  }
  if (header->decoding == kHldEventDecoding) return "an event where a subevent was expected";
  if (header->word_log2() > kHldMaxWordLog2) {
    return fmt::format("a subevent of decoding {:#010x}, with words of 2^{} bytes", header->decoding,
                       header->word_log2());
  }
  return {};
}

}  // namespace

bool begins_hld_file(std::span<const std::byte> head) {
  std::array<std::uint32_t, 2> words{};  // size and decoding
  if (head.size() < sizeof words) return false;
  std::memcpy(words.data(), head.data(), sizeof words);
  return words[1] == kHldEventDecoding || __builtin_bswap32(words[1]) == kHldEventDecoding;
}

void HldSubevent::copy_data(std::byte* out) const {
  if (big_endian) {
    copy_hld_reversed(data, word_bytes(), out);
  } else if (!data.empty()) {
    std::memcpy(out, data.data(), data.size());
  }
}

void HldSubevent::copy_words(std::vector<std::uint32_t>& words) const {
  words.resize((data.size() + 3) / 4);
  if (words.empty()) return;
  words.back() = 0;
  copy_data(std::as_writable_bytes(std::span(words)).data());
}

std::optional<std::uint32_t> HldSubevent::word(std::size_t i) const {
  std::uint32_t value = 0;
  if (word_bytes() != sizeof value || data.size() / sizeof value <= i) return std::nullopt;
  std::memcpy(&value, data.data() + i * sizeof value, sizeof value);
  return big_endian ? __builtin_bswap32(value) : value;
}

std::string read_hld_subevents(std::span<const std::byte> bytes, std::uint64_t offset,
                               std::vector<HldSubevent>& subevents) {
  subevents.clear();
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto rest = bytes.subspan(at);
    const auto header = read_hld_subevent_header(rest);
    if (const auto flaw = flaw_of(header, rest.size()); !flaw.empty()) {
      return fmt::format("at offset {} {}", offset + at, flaw);
    }
    subevents.push_back(
        {*header, offset + at, rest.subspan(kHldSubeventHeaderBytes, header->size - kHldSubeventHeaderBytes)});
    at += hld_padded(header->size);
  }
  return {};
}

bool HldFile::can_open(const std::string& path) {
  FileReader file(path);
  const auto header = read_hld_event_header(file.front(kHldEventHeaderBytes));
  return header && (!is_sane(header->size) || file.size() >= hld_padded(header->size));
}

HldFile::HldFile(const std::string& path, Followed followed) : file_(path, std::move(followed)), defect_log_(path) {
  if (file_.size() < kHldEventHeaderBytes) {
    throw UserError(
        fmt::format("'{}' is not an HLD file: it has {} bytes, fewer than the header of an event", path, file_.size()));
  }
  const auto header = header_at(0);
  if ((header && header->decoding == kHldEventDecoding) || find_event()) return;
  throw UserError(fmt::format("'{}' is not an HLD file: at its start {}, and no event in the first {} bytes", path,
                              describe_header(header), std::min(kSearchBytes, file_.size())));
}

HldFile::Item HldFile::next() {
  file_.skip(std::exchange(consumed_, 0));
  if (!broken_off_ && awaits_event()) return Item::pause;
  if (broken_off_ || (file_.left() == 0 && file_.failure().empty())) return give_end();
  const auto header = header_at(0);
  if (!header || !is_sane(header->size)) return lose_stretch(describe_header(header));
  if (header->size > file_.left()) {
    return lose_stretch(fmt::format("an event of {} bytes, {} of them in the file", header->size, file_.left()));
  }
  return read_event(*header);
}

/// Whether the next event of a followed file is incomplete. Finding one after damage takes more bytes.
bool HldFile::awaits_event() {
  if (file_.awaits(kHldEventHeaderBytes)) return true;
  const auto header = header_at(0);
  return file_.awaits(header && is_sane(header->size) ? hld_padded(header->size) : kSearchBytes);
}

HldFile::Item HldFile::read_event(const HldEventHeader& header) {
  const auto bytes = bytes_at(0, header.size);
  if (bytes.size() < header.size) return lose_stretch(fmt::format("an event of {} bytes", header.size));
  static_cast<HldEventHeader&>(event_) = header;
  event_.offset = file_.offset();
  if (const auto flaw = split(bytes.first(header.size)); !flaw.empty()) return lose_event(header, flaw);
  if (header.decoding != kHldEventDecoding) {
    ++anomalies_;
    defect_log_.say(Defect::remark, event_.offset, [&header] {
      return fmt::format("event {} has the decoding {:#010x} instead of {:#010x}; it is used", header.number,
                         header.decoding, kHldEventDecoding);
    });
  }
  consumed_ = hld_padded(header.size);
  return Item::event;
}

/// Puts the subevents of `event` into event_. Returns the defect; empty if there is none.
std::string HldFile::split(std::span<const std::byte> event) {
  const auto flaw =
      read_hld_subevents(event.subspan(kHldEventHeaderBytes), event_.offset + kHldEventHeaderBytes, event_.subevents);
  return flaw.empty() ? flaw : fmt::format("event {} has {}", event_.number, flaw);
}

/// Drops an event with damaged contents.
HldFile::Item HldFile::lose_event(const HldEventHeader& header, const std::string& reason) {
  if (!leads_on(0, header)) return lose_stretch(reason);
  damage_.subevents = static_cast<std::uint32_t>(event_.subevents.size()) + 1;
  damage_.text = reason + "; the event is dropped";
  return give_damage(HldDamage::Extent::event, hld_padded(header.size));
}

/// Skips to the next event found, or to the end of the file.
HldFile::Item HldFile::lose_stretch(const std::string& reason) {
  damage_.subevents = 0;
  const auto ahead = file_.failure().empty() ? find_event() : std::nullopt;
  if (ahead) {
    damage_.text = fmt::format("{}; reading continues with the event at offset {}", reason, file_.offset() + *ahead);
    return give_damage(HldDamage::Extent::stretch, *ahead);
  }
  damage_.text = fmt::format("{}; {}; the rest, {} bytes, is skipped", reason,
                             file_.failure().empty() ? "no further event is found" : file_.failure(), file_.left());
  broken_off_ = true;
  return give_damage(HldDamage::Extent::rest, file_.left());
}

HldFile::Item HldFile::give_damage(HldDamage::Extent extent, std::uint64_t bytes) {
  damage_.extent = extent;
  damage_.offset = file_.offset();
  consumed_ = bytes;
  defect_log_.say(Defect::damage, damage_.offset, [this] { return damage_.text; });
  return Item::damage;
}

HldFile::Item HldFile::give_end() {
  defect_log_.sum_up();
  if (!std::exchange(ended_, true) && file_.has_grown()) {
    ++anomalies_;
    defect_log_.say(Defect::remark, file_.size(), [] {
      return std::string("the file has grown since it was opened; data beyond this offset were not read");
    });
  }
  return Item::end;
}

std::string HldFile::describe_header(const std::optional<HldEventHeader>& header) const {
  if (!header && file_.left() < kHldEventHeaderBytes) {
    return fmt::format("{} bytes are left, fewer than the header of an event", file_.left());
  }
  if (!header) return fmt::format("the header of an event (decoding {:#010x}) was expected", kHldEventDecoding);
  return fmt::format(
      "the header of an event (decoding {:#010x}) was expected, found decoding {:#010x} and a size of {}",
      kHldEventDecoding, header->decoding, header->size);
}

/// Returns `n` bytes that start `ahead` bytes after the front; fewer at the end of the file. Reads ahead to the next
/// multiple of 1 MiB, since each read moves the whole contents of the buffer.
std::span<const std::byte> HldFile::bytes_at(std::uint64_t ahead, std::size_t n) {
  auto wanted = static_cast<std::size_t>(ahead) + n;
  if (ahead > 0) wanted += kSearchBytes - 1 - (file_.offset() + wanted - 1) % kSearchBytes;
  const auto bytes = file_.front(wanted);
  return bytes.subspan(std::min(bytes.size(), static_cast<std::size_t>(ahead)));
}

std::optional<HldEventHeader> HldFile::header_at(std::uint64_t ahead) {
  return read_hld_event_header(bytes_at(ahead, kHldEventHeaderBytes));
}

/// Whether the event of `header`, `ahead` bytes after the front, is followed by another event or the end of the file.
bool HldFile::leads_on(std::uint64_t ahead, const HldEventHeader& header) {
  const auto behind = ahead + hld_padded(header.size);
  if (behind + kHldEventHeaderBytes > file_.left()) return ahead + header.size <= file_.left();
  const auto next = header_at(behind);
  return next && next->decoding == kHldEventDecoding && is_sane(next->size);
}

bool HldFile::is_event_at(std::uint64_t ahead) {
  const auto header = header_at(ahead);
  return header && header->decoding == kHldEventDecoding && is_sane(header->size) && leads_on(ahead, *header);
}

/// Distance in bytes from the front to the next event within kSearchBytes.
std::optional<std::uint64_t> HldFile::find_event() {
  const auto aligned = find_event(8);
  return aligned ? aligned : find_event(4);
}

/// Searches in steps of 8 bytes, starting at `from`.
std::optional<std::uint64_t> HldFile::find_event(std::uint64_t from) {
  const auto base = file_.offset();
  auto& searched = searched_[(base + from) / 4 % 2];
  const auto limit = std::min(kSearchBytes, file_.left());
  std::uint64_t ahead = std::max(base + from, searched) - base;
  while (ahead + kHldEventHeaderBytes <= limit && !is_event_at(ahead)) ahead += 8;
  searched = base + ahead;
  if (ahead + kHldEventHeaderBytes > limit) return std::nullopt;
  return ahead;
}

}  // namespace eventloom
