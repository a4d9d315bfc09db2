#include "io/udp/board_header.hpp"

#include <utility>

namespace eventloom {

namespace {

std::string text_of(const TimeBase& base) {
  return "ticks of " + std::to_string(base.tick_ps) + " ps and epochs of " + std::to_string(base.epoch_ticks) +
         " ticks";
}

}  // namespace

BoardHeader::BoardHeader(const TimeBase& base, StreamHeader assumed) : base_(base), header_(std::move(assumed)) {
  header_.base = base_;
}

std::optional<std::string> BoardHeader::take(const DatagramStream& stream) {
  const auto& header = stream.header;
  if (header.base != base_) {
    return "it has " + text_of(header.base) + ", the run " + text_of(base_) +
           "; set the board's values with --tick and --epoch";
  }
  if ((header.flags & kSorted) != 0) return "it sends time-sorted hits of several sources; send the sources themselves";
  const std::lock_guard lock(mutex_);
  if (known_ && header.payload != header_.payload) {
    return "the payload of its hits differs from that at the start of the run; start it before the run, or give "
           "payload= in the "
           "URI";
  }
  if (!known_) header_ = header;
  known_ = true;
  started_ns_ = stream.started_ns;
  return std::nullopt;
}

StreamHeader BoardHeader::fix() {
  const std::lock_guard lock(mutex_);
  known_ = true;
  return header_;
}

StreamHeader BoardHeader::header() const {
  const std::lock_guard lock(mutex_);
  return header_;
}

bool BoardHeader::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

std::int64_t BoardHeader::started_ns() const {
  const std::lock_guard lock(mutex_);
  return started_ns_;
}

}  // namespace eventloom
