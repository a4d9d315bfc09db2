#include "io/mbs/mbs_reader.hpp"

#include <thread>
#include <utility>

#include "core/runtime/log.hpp"
#include "io/recorded/wrapping_numbers.hpp"

namespace eventloom {

namespace {

/// After this time without data, an empty block shows the caller that time passes.
constexpr std::chrono::milliseconds kPatience{20};

bool is_empty(const HitBlock& block) { return block.size() == 0 && block.losses.empty(); }

}  // namespace

MbsReader::MbsReader(const MbsAddress& address, const LmdTime& time, StreamHeader header,
                     std::chrono::duration<double> reconnect, std::optional<std::chrono::milliseconds> longest_wait,
                     EraRule eras, const MbsStop& stop)
    : name_(address.text),
      header_(std::move(header)),
      range_(std::uint64_t{1} << time.bits()),
      longest_wait_(longest_wait),
      stop_(stop),
      connection_(address, reconnect, stop),
      blocks_(name_, time, header_.base, eras),
      placed_(time.bits() == 32),
      begin_(placed_ ? 0 : kUnknown) {
  blocks_.open(name_);
}

bool MbsReader::read(HitBlock& block) {
  block.clear();
  if (!has_begun()) {
    if (is_empty(held_)) return read_on(held_);
    std::this_thread::sleep_for(kPatience);
    return true;
  }
  if (is_empty(held_)) {
    if (!read_on(block)) return false;
  } else {
    std::swap(block, held_);
  }
  place(block);
  return true;
}

/// Determines from the beginning of the run how often the numbers have wrapped around.
void MbsReader::place(HitBlock& block) {
  const auto first = blocks_.first_number();
  if (placed_ || !first) return;
  placed_ = true;
  blocks_.raise(nearest_raise(*first, range_, begin_ == kUnknown ? 0 : begin_.load()), block);
}

std::optional<Tick> MbsReader::held_from() const { return has_begun() ? std::nullopt : blocks_.first_number(); }

bool MbsReader::read_on(HitBlock& block) {
  using Step = MbsConnection::Step;
  blocks_.begin(block);
  while (!ended_) {
    if (!take_events(block)) return true;
    switch (connection_.next(blocks_.is_complete(block) ? std::chrono::milliseconds(0) : kPatience)) {
      case Step::buffer: begin_buffer(); break;
      case Step::empty: pass_empty(); break;
      case Step::lost: note_lost(); break;
      case Step::again: restart(); break;
      case Step::ended: finish(block); break;
      case Step::nothing: pause(block); return true;
    }
  }
  return block.size() != 0 || !block.losses.empty();
}

/// Takes the rest of the current buffer. Returns false when the block is full.
bool MbsReader::take_events(HitBlock& block) {
  while (events_.next(event_)) {
    if (!std::exchange(any_, true)) look_for_earlier();
    take_problems(block);
    count(event_, notes_.counters);
    if (!blocks_.add(event_, block)) return false;
  }
  events_.leave();
  take_problems(block);
  return true;
}

/// Reports problems as losses. Hits that another connection may repeat are not counted, but the hole is.
void MbsReader::take_problems(HitBlock& block) {
  if (notes_.problems.empty()) return;
  for (auto& problem : std::exchange(notes_.problems, {})) {
    const bool on_the_way = problem.effect == LmdEffect::breaks_off;
    hole_noted_ |= on_the_way;
    if (on_the_way && !connection_.is_over()) problem.hits = 0;
    blocks_.add(problem, on_the_way ? DropCause::lost : DropCause::corrupt, connection_.is_over(), block);
  }
}

/// Handles a pause in the data.
void MbsReader::pause(HitBlock& block) {
  take_problems(block);
  if (const Tick others = others_; others != 0) blocks_.confirm(others);
  const bool waited = longest_wait_ && std::chrono::steady_clock::now() - heard_ >= *longest_wait_;
  if (std::exchange(releases_held_, false) || (waited && blocks_.newest_is_safe())) {
    blocks_.finish(block);
  } else {
    blocks_.hold_back(block);
  }
}

void MbsReader::pass_empty() {
  const auto number = connection_.buffer().header.number;
  if (!first_buffer_) first_buffer_ = number;
  events_.pass(number);
}

/// Reports earlier buffers: servers that number their buffers begin with 1 when they start sending.
void MbsReader::look_for_earlier() {
  const auto first = first_buffer_.value_or(0);
  if (first <= 1) return;
  notes_.counters[Metric::missing_buffers] += first - 1;
  log::warn(
      "{}: joined a server that was sending already, at event number {} in its buffer {}: {} earlier buffers "
      "were not received",
      name_, event_.number, first, first - 1);
}

void MbsReader::begin_buffer() {
  heard_ = std::chrono::steady_clock::now();
  const auto& buffer = connection_.buffer();
  if (!first_buffer_) first_buffer_ = buffer.header.number;
  hole_noted_ = false;
  if (const auto defect = buffer.defect()) {
    events_.skip(buffer, *defect);
  } else {
    events_.begin(buffer);
  }
}

/// Handles a new connection, to a server that may have restarted.
void MbsReader::restart() {
  events_.restart("an event that the lost connection left unfinished");
  if (!hole_noted_ && notes_.problems.empty()) note_lost();
  blocks_.restart();
}

/// Notes a loss of data between server and client, which the connection has already reported.
void MbsReader::note_lost() {
  notes_.add({.offset = connection_.offset(), .effect = LmdEffect::breaks_off, .hits = 0, .text = ""});
}

void MbsReader::finish(HitBlock& block) {
  ended_ = true;
  if (!stop_.stopped()) events_.end("an event that continues beyond the end of the stream");
  take_problems(block);
  blocks_.finish(block);
  blocks_.close();
}

SourceCounts MbsReader::counts() const {
  auto counts = blocks_.counts(notes_.counters);
  counts.counters[Metric::repeated_events] = blocks_.repeated();
  counts.counters.add(connection_.counters());
  return counts;
}

}  // namespace eventloom
