#include "io/midas/midas_file.hpp"

#include <algorithm>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/recorded/file_end.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kHeaders = MidasHeader::kBytes + kMidasBanksBytes;

}  // namespace

bool MidasFile::can_open(const std::string& path) { return FileReader(path).size() >= kHeaders; }

MidasFile::MidasFile(const std::string& path, Followed followed) : file_(path, std::move(followed)), defect_log_(path) {
  const auto front = file_.front(kHeaders);
  if (file_.size() == 0 || begins_midas_event(front)) return;
  if (front.size() >= MidasHeader::kBytes && is_framed(read_midas_header(front))) return;
  throw UserError("'" + path + "' does not begin with a little-endian MIDAS event");
}

MidasFile::Item MidasFile::next(std::optional<std::uint16_t> id) {
  file_.skip(std::exchange(event_bytes_, 0));
  while (!ended_) {
    if (awaits_event()) return Item::pause;
    const auto front = file_.front(kHeaders);
    if (front.empty()) return finish("");
    if (front.size() < MidasHeader::kBytes) return finish("the file ends inside the header of an event");
    const auto header = read_midas_header(front);
    const bool known = begins_midas_event(front);
    if (!known && !is_framed(header)) return awaits_ ? Item::pause : search();
    if (header.bytes > file_.left() - MidasHeader::kBytes) return finish("the file ends inside an event");
    const bool banked = known && !header.of_logger();
    if (count(header) && (id ? header.id == *id : banked)) return read_event(header, banked);
    file_.skip(MidasHeader::kBytes + header.bytes);
  }
  return Item::end;
}

/// Whether the next event of a file that is followed is not yet complete. Without banks, a length is judged by what
/// follows.
bool MidasFile::awaits_event() {
  if (file_.awaits(kHeaders)) return true;
  const auto front = file_.front(kHeaders);
  if (front.size() < MidasHeader::kBytes || !begins_midas_event(front)) return false;
  return file_.awaits(MidasHeader::kBytes + read_midas_header(front).bytes);
}

/// Counts an event; returns false for those that the logger adds.
bool MidasFile::count(MidasHeader header) {
  if (!header.of_logger()) {
    ++ids_[header.id];
    return true;
  }
  ++counters_[header.id == MidasHeader::kMessage ? Metric::skipped_elements : Metric::run_events];
  return false;
}

MidasFile::Item MidasFile::read_event(MidasHeader header, bool banked) {
  event_bytes_ = MidasHeader::kBytes + header.bytes;
  const auto bytes = file_.front(event_bytes_);
  if (bytes.size() < event_bytes_) return finish("the file ends inside an event");
  event_.header = header;
  event_.offset = file_.offset();
  event_.banks.clear();
  if (header.bytes == 0) return Item::event;
  if (!banked) {
    ++counters_[Metric::bad_records];
    return damaged({.offset = event_.offset, .banks = 1},
                   fmt::format("an event without banks is dropped: {} bytes in format FIXED", header.bytes));
  }
  const auto defect = read_midas_banks(bytes.subspan(MidasHeader::kBytes, header.bytes), event_.banks);
  if (defect.empty()) return Item::event;
  ++counters_[Metric::bad_records];
  const auto banks = static_cast<std::uint32_t>(event_.banks.size()) + 1;
  return damaged({.offset = event_.offset, .banks = banks},
                 fmt::format("event {} has {}: it is dropped", header.serial, defect));
}

/// Whether the length in the header of an event without banks is right: it is followed by the end of the file, by an
/// event that can be recognised by its headers, or by another one for which the same holds. Zeros are not an event.
bool MidasFile::is_framed(MidasHeader header) {
  constexpr std::uint64_t kLongest = 1U << 24;
  constexpr int kMostInSequence = 64;
  std::uint64_t end = 0;
  awaits_ = false;
  for (int n = 0; n < kMostInSequence; ++n) {
    if (header.seconds == 0 && (n > 0 || header.id == 0)) return false;
    end += MidasHeader::kBytes + header.bytes;
    if (end > kLongest) return false;
    awaits_ = file_.awaits(end + kHeaders);
    if (awaits_ || end > file_.left()) return false;
    if (end == file_.left()) return true;
    const auto front = file_.front(end + kHeaders);
    if (front.size() < end + MidasHeader::kBytes) return false;
    if (begins_midas_event(front.subspan(end))) return true;
    header = read_midas_header(front.subspan(end));
  }
  return true;
}

/// Searches for the next event byte by byte, as bytes may be missing.
MidasFile::Item MidasFile::search() {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  const auto from = file_.offset();
  for (bool found = false; !found;) {
    const auto bytes = file_.front(kStep);
    if (bytes.size() < kHeaders) {
      if (!file_.awaits(kHeaders)) file_.skip(bytes.size());
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

/// `how`: why the file ends inside an element; empty if it does not.
MidasFile::Item MidasFile::finish(const std::string& how) {
  ended_ = true;
  const auto defect = end_defect(file_, how);
  if (defect.empty()) return Item::end;
  return damaged({.offset = file_.offset(), .banks = how.empty() ? 0U : 1U, .rest = true}, defect);
}

MidasFile::Item MidasFile::damaged(MidasDamage damage, const std::string& what) {
  damage_ = damage;
  defect_log_.say(Defect::damage, damage.offset, [&] { return what; });
  return Item::damage;
}

}  // namespace eventloom
