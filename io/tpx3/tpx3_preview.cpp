#include "io/tpx3/tpx3_preview.hpp"

#include <algorithm>

#include "io/files/file_reader.hpp"

namespace eventloom {

std::int64_t Tpx3Time::nearest_to(std::int64_t now) const {
  const auto whole = static_cast<std::int64_t>(period);
  std::int64_t ahead = (time - now) % whole;
  if (ahead < -whole / 2) ahead += whole;
  if (ahead >= whole / 2) ahead -= whole;
  return now + ahead;
}

bool Tpx3Preview::take(std::uint64_t word) {
  const Tpx3Packet packet(word);
  if (left_ == 0) {
    if (!packet.begins_chunk()) return false;
    left_ = packet.chunk_packets();
    return true;
  }
  --left_;
  switch (packet.kind()) {
    case Tpx3Kind::pixel:
    case Tpx3Kind::integrated: take_pixel({packet.pixel_time(), kTpx3PixelPeriod}); break;
    case Tpx3Kind::tdc:
      if (const auto time = packet.tdc_time()) take_tdc(*time);
      break;
    case Tpx3Kind::global_low: global_low_ = packet.global_low(); break;
    case Tpx3Kind::global_high:
      if (global_low_ && !global_) global_ = packet.global_time(*global_low_) - elapsed();
      break;
    default: break;
  }
  return true;
}

/// A pixel far ahead counts only if the next one is near it.
void Tpx3Preview::take_pixel(Tpx3Time time) {
  constexpr std::int64_t kFar = std::int64_t{40'000'000} * kTpx3StepsPer25ns;  // 1 s
  remember(time);
  if (!first_) first_ = reached_ = time.time;
  const auto at = time.near_to(*reached_);
  const bool believed = at <= *reached_ + kFar || (at >= doubted_ - kFar && at <= doubted_ + kFar);
  if (believed) reached_ = std::max(*reached_, at);
  doubted_ = at;
}

void Tpx3Preview::take_tdc(std::int64_t time) {
  remember({time, kTpx3TdcPeriod});
  if (!tdc_) tdc_ = {time - elapsed(), kTpx3TdcPeriod};
}

void Tpx3Preview::remember(Tpx3Time time) {
  constexpr std::size_t kMostTimes = 4096;
  if (times_.size() < kMostTimes) times_.push_back(time);
}

Tpx3Preview preview_tpx3(const std::string& path) {
  // Global times are at least a second apart.
  constexpr std::uint64_t kSearched = std::uint64_t{64} << 20;
  FileReader file(path);
  Tpx3Preview preview;
  while (file.offset() < kSearched && !preview.global()) {
    const auto bytes = file.front(kTpx3PacketBytes);
    if (bytes.size() < kTpx3PacketBytes || !preview.take(load_tpx3_word(bytes.data()))) break;
    file.skip(kTpx3PacketBytes);
  }
  return preview;
}

}  // namespace eventloom
