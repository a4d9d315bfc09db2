#include "io/midas/midas_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "core/runtime/error.hpp"
#include "io/recorded/file_end.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kHeaders = MidasHeader::kBytes + kMidasBanksBytes;

}  // namespace

MidasFile::MidasFile(const std::string& path) : file_(path), complaints_(path) {
  if (file_.size() == 0 || begins_midas_event(file_.front(kHeaders))) return;
  throw UserError("'" + path +
                  "' does not begin with a little-endian MIDAS event; unpack .mid.gz and .mid.lz4 files first");
}

MidasFile::Item MidasFile::next() {
  file_.skip(event_bytes_);
  event_bytes_ = 0;
  while (!ended_) {
    const auto front = file_.front(kHeaders);
    if (front.empty()) return finish("");
    if (front.size() < MidasHeader::kBytes) return finish("the file ends inside the header of an event");
    const auto header = read_midas_header(front);
    const bool fits = header.bytes <= file_.left() - MidasHeader::kBytes;
    if (!begins_midas_event(front)) {
      if (!fits || !is_followed(header)) return search();
      event_bytes_ = MidasHeader::kBytes + header.bytes;
      ++counters_[Metric::bad_records];
      return damaged({.offset = file_.offset(), .banks = 1}, "an event without banks is dropped");
    }
    if (!fits) return finish("the file ends inside an event");
    if (!header.of_logger()) return read_event(header);
    ++counters_[header.id == MidasHeader::kMessage ? Metric::skipped_elements : Metric::run_events];
    file_.skip(MidasHeader::kBytes + header.bytes);
  }
  return Item::end;
}

MidasFile::Item MidasFile::read_event(MidasHeader header) {
  event_bytes_ = MidasHeader::kBytes + header.bytes;
  const auto bytes = file_.front(event_bytes_);
  if (bytes.size() < event_bytes_) return finish("the file ends inside an event");
  event_.header = header;
  event_.offset = file_.offset();
  const auto defect = read_midas_banks(bytes.subspan(MidasHeader::kBytes, header.bytes), event_.banks);
  if (defect.empty()) return Item::event;
  ++counters_[Metric::bad_records];
  const auto banks = static_cast<std::uint32_t>(event_.banks.size()) + 1;
  return damaged({.offset = event_.offset, .banks = banks},
                 fmt::format("event {} has {}: it is dropped", header.serial, defect));
}

/// Whether the length of the header is right: another event is behind it, or the end.
bool MidasFile::is_followed(MidasHeader header) {
  constexpr std::uint32_t kLongest = 1U << 24;
  const std::size_t bytes = MidasHeader::kBytes + header.bytes;
  if (header.bytes > kLongest) return false;
  return bytes == file_.left() || begins_midas_event(file_.front(bytes + kHeaders).subspan(bytes));
}

/// Byte by byte: some may be missing.
MidasFile::Item MidasFile::search() {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  const auto from = file_.offset();
  for (bool found = false; !found;) {
    const auto bytes = file_.front(kStep);
    if (bytes.size() < kHeaders) {
      file_.skip(bytes.size());
      break;
    }
    std::size_t at = file_.offset() == from ? 1 : 0;
    while (at + kHeaders <= bytes.size() && !begins_midas_event(bytes.subspan(at, kHeaders))) ++at;
    found = at + kHeaders <= bytes.size();
    file_.skip(at);
  }
  return damaged({.offset = from, .hole = true},
                 fmt::format("expected an event; {} bytes are skipped", file_.offset() - from));
}

/// `how`: the file ends inside an element; empty when it does not.
MidasFile::Item MidasFile::finish(const std::string& how) {
  ended_ = true;
  const auto defect = end_defect(file_, how);
  if (defect.empty()) return Item::end;
  return damaged({.offset = file_.offset(), .banks = how.empty() ? 0U : 1U, .rest = true}, defect);
}

MidasFile::Item MidasFile::damaged(MidasDamage damage, const std::string& what) {
  damage_ = damage;
  complaints_.say(Defect::damage, damage.offset, [&] { return what; });
  return Item::damage;
}

bool is_midas_file(const std::filesystem::path& file) {
  std::array<char, kHeaders> bytes{};
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), bytes.size());
  return begins_midas_event(std::as_bytes(std::span(bytes)).first(static_cast<std::size_t>(in.gcount())));
}

}  // namespace eventloom
