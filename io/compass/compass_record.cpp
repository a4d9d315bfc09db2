#include "io/compass/compass_record.hpp"

#include <algorithm>
#include <cstring>

namespace eventloom {

namespace {

class CompassBytes {
 public:
  explicit CompassBytes(std::span<const std::byte> bytes) : at_(bytes.data()) {}

  template <class Number>
  Number take() {
    Number number;
    std::memcpy(&number, at_, sizeof number);
    at_ += sizeof number;
    return number;
  }

 private:
  const std::byte* at_;
};

bool is_plausible(const CompassRecord& record) {
  constexpr std::uint32_t kMostSamples = 1U << 24;
  return record.board < kMostCompassBoards && record.samples <= kMostSamples;
}

}  // namespace

std::optional<CompassFormat> CompassFormat::of_header(std::uint16_t header) {
  constexpr unsigned kMagic = 0xcae;
  if (header >> 4 != kMagic || (header & 3) == 0) return std::nullopt;
  CompassFormat format;
  format.energy = (header & 1) != 0;
  format.calibrated = (header & 2) != 0;
  format.energy_short = (header & 4) != 0;
  format.waveform = (header & 8) != 0;
  return format;
}

CompassFormat CompassFormat::old() {
  CompassFormat format;
  format.energy_short = true;
  format.waveform = true;
  format.is_old = true;
  return format;
}

std::size_t CompassFormat::fixed_bytes() const {
  constexpr std::size_t kAlways = 2 + 2 + 8 + 4;
  const std::size_t samples = waveform ? (is_old ? 4 : 5) : 0;
  return kAlways + (energy ? 2U : 0U) + (calibrated ? 8U : 0U) + (energy_short ? 2U : 0U) + samples;
}

std::size_t CompassFormat::payload_words() const {
  return 2U + (energy_short ? 1U : 0U) + (energy && calibrated ? 1U : 0U);
}

CompassRecord read_compass_record(const CompassFormat& format, std::span<const std::byte> bytes) {
  CompassBytes in(bytes);
  CompassRecord record;
  record.board = in.take<std::uint16_t>();
  record.channel = in.take<std::uint16_t>();
  record.time_ps = in.take<std::uint64_t>();
  if (format.energy) record.energy = in.take<std::uint16_t>();
  if (format.calibrated) record.calibrated = in.take<double>();
  if (format.energy_short) record.energy_short = in.take<std::uint16_t>();
  record.flags = in.take<std::uint32_t>();
  if (format.waveform && !format.is_old) in.take<std::uint8_t>();
  if (format.waveform) record.samples = in.take<std::uint32_t>();
  return record;
}

bool are_compass_records(const CompassFormat& format, std::span<const std::byte> head) {
  while (head.size() >= format.fixed_bytes()) {
    const auto record = read_compass_record(format, head);
    if (!is_plausible(record)) return false;
    head = head.subspan(std::min<std::size_t>(head.size(), format.fixed_bytes() + std::size_t{2} * record.samples));
  }
  return true;
}

bool begins_compass_binary(std::span<const std::byte> head) {
  if (head.size() < CompassFormat::kHeaderBytes) return false;
  const auto format = CompassFormat::of_header(CompassBytes(head).take<std::uint16_t>());
  if (!format) return false;
  if (head.size() == CompassFormat::kHeaderBytes) return true;
  if (head.size() < CompassFormat::kHeaderBytes + format->fixed_bytes()) return false;
  return is_plausible(read_compass_record(*format, head.subspan(CompassFormat::kHeaderBytes)));
}

}  // namespace eventloom
