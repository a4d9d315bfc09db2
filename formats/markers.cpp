#include "formats/markers.hpp"

#include <stdexcept>
#include <string>

namespace eventloom {

namespace {

void require_fits(std::uint64_t value, unsigned bits, const char* what) {
  if (value >> bits != 0) {
    throw std::invalid_argument(std::string(what) + " " + std::to_string(value) + " does not fit in " +
                                std::to_string(bits) + " bits");
  }
}

}  // namespace

void MarkerWriter::epoch(Epoch epoch) {
  finish();
  words_.push_back(encode_marker(MarkerType::epoch, static_cast<std::uint32_t>(epoch) & kValueMask));
}

void MarkerWriter::time(std::uint32_t tick_in_epoch) {
  require_fits(tick_in_epoch, 19, "time in the epoch");
  finish();
  open_time_ = static_cast<std::ptrdiff_t>(words_.size());
  words_.push_back(encode_time(tick_in_epoch, 0));
}

void MarkerWriter::channel(std::uint32_t channel, std::span<const std::uint32_t> payload) {
  require_fits(channel, 28, "channel id");
  words_.push_back(encode_marker(MarkerType::channel, channel));
  words_.insert(words_.end(), payload.begin(), payload.end());
}

void MarkerWriter::peak(Peak peak) {
  require_fits(peak.time, 13, "peak time");
  require_fits(peak.amplitude, 9, "peak amplitude");
  require_fits(peak.width, 6, "peak width");
  words_.push_back(encode_peak(peak));
}

void MarkerWriter::tag(std::uint32_t tag) {
  require_fits(tag, 28, "event tag");
  words_.push_back(encode_marker(MarkerType::tag, tag));
}

void MarkerWriter::histogram(std::uint32_t first_bin, std::span<const std::uint32_t> bins) {
  require_fits(first_bin, 15, "first bin");
  require_fits(bins.size(), 13, "number of bins");
  finish();
  words_.push_back(encode_marker(MarkerType::histogram, first_bin << 13 | static_cast<std::uint32_t>(bins.size())));
  words_.insert(words_.end(), bins.begin(), bins.end());
}

void MarkerWriter::schedule(std::span<const ScheduleEntry> entries) {
  require_fits(entries.size(), 28, "number of schedule entries");
  finish();
  words_.push_back(encode_marker(MarkerType::schedule, static_cast<std::uint32_t>(entries.size())));
  for (const auto& e : entries) words_.insert(words_.end(), {e.time, e.tag, e.builder});
}

void MarkerWriter::finish() {
  if (open_time_ < 0) return;
  const auto at = static_cast<std::size_t>(open_time_);
  open_time_ = -1;
  const auto belonging = words_.size() - at - 1;
  if (belonging < kLongGroup) {
    words_[at] = encode_time(words_[at] & kTimeMask, static_cast<std::uint32_t>(belonging));
    return;
  }
  require_fits(belonging, 32, "words of one time marker");
  words_[at] = encode_time(words_[at] & kTimeMask, kLongGroup);
  words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at) + 1, static_cast<std::uint32_t>(belonging));
}

}  // namespace eventloom
