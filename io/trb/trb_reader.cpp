#include "io/trb/trb_reader.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "core/runtime/clock.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/trb.hpp"
#include "io/recorded/block_losses.hpp"
#include "io/recorded/kept_event.hpp"
#include "io/recorded/wrapping_numbers.hpp"

namespace eventloom {

namespace {

/// After this time without data, an empty block shows the caller that time passes.
constexpr int kTrbPatienceMs = 20;
/// Likewise, while events wait for earlier ones.
constexpr int kHeldTickMs = 10;
/// Delay in which more data gather: waking up for each datagram would cost more than all other work.
constexpr std::chrono::microseconds kGather{300};
/// Pause while the data held before the run begins have reached their limit.
constexpr std::chrono::milliseconds kFullPause{5};
/// After this long without data, a board's number is unknown.
constexpr std::int64_t kSilence_ns = 100'000'000;

std::uint32_t number_of(const HldSubevent& subevent) { return subevent.trigger_number >> kTrbTagBits; }

}  // namespace

TrbReader::TrbReader(const std::string& place, TrbOptions options, std::size_t most_bytes)
    : name_("trb:" + place),
      options_(std::move(options)),
      most_bytes_(most_bytes),
      socket_(place),
      sequence_(options_.bits, options_.optional(), *this),
      defect_log_(name_),
      data_ns_(steady_ns()),
      empty_ns_(data_ns_) {
  counts_.counters.keep({Metric::datagrams, Metric::bytes, Metric::malformed});
}

void TrbReader::stop() {
  stopped_ = true;
  socket_.wake();
}

bool TrbReader::read(HitBlock& block) {
  block.clear();
  if (ended_) return false;
  const bool stopping = stopped_;  // read first: data that arrived before the stop are still taken
  if (!begun_ && (stopping || begin_ != kUnknown)) begin(begin_ == kUnknown ? 0 : begin_.load());
  if (begun_) sequence_.others_at(std::max({others_.load(), began_at_, high_}) - high_);
  if (!begun_ && is_full()) std::this_thread::sleep_for(kFullPause);
  std::size_t batches = 0;
  while (!is_full() && receive(stopping) && (!stopping || ++batches < UdpSocket::kTurnover)) {
  }
  ended_ = stopping && !is_full();
  if (ended_) {
    sequence_.finish();
    defect_log_.sum_up();
  }
  if (begun_) std::swap(block, ready_);
  return true;
}

bool TrbReader::is_full() const {
  return begun_ ? eventloom::is_full(ready_) : ready_.payload.size() * sizeof(std::uint32_t) >= most_bytes_;
}

/// Determines from the beginning of the run how often the board's numbers have wrapped around.
void TrbReader::begin(Tick at) {
  begun_ = true;
  began_at_ = at;
  if (!first_) return;
  high_ = nearest_raise(*first_, sequence_.range(), at);
  for (auto& time : ready_.time) time += high_;
}

/// Receives one batch. If there is none, waits for data and returns false.
bool TrbReader::receive(bool stopping) {
  const auto datagrams = socket_.receive();
  const auto now = steady_ns();
  if (datagrams.empty()) {
    empty_ns_ = now;
    sequence_.pass_time(now);
    rest(stopping);
    return false;
  }
  for (const auto datagram : datagrams) take(datagram, now);
  return true;
}

/// Waits for more data, unless there are data to hand over.
void TrbReader::rest(bool stopping) {
  if (stopping || (begun_ && (ready_.size() != 0 || !ready_.losses.empty()))) return;
  socket_.wait(sequence_.waiting() ? kHeldTickMs : kTrbPatienceMs);
  std::this_thread::sleep_for(kGather);
}

void TrbReader::take(std::span<const std::byte> datagram, std::int64_t now) {
  auto& counters = counts_.counters;
  ++counters[Metric::datagrams];
  counters[Metric::bytes] += datagram.size();
  const auto contents = read_trb_datagram(datagram);
  if (!contents || !read_hld_subevents(*contents, 0, subevents_).empty()) return note_malformed();
  heard_ = true;
  const bool after_silence = empty_ns_ - data_ns_ >= kSilence_ns;
  data_ns_ = now;
  for (auto begin = subevents_.begin(); begin != subevents_.end();) {
    const auto end = std::find_if(begin, subevents_.end(),
                                  [&](const auto& subevent) { return number_of(subevent) != number_of(*begin); });
    const auto to = end == subevents_.end() ? contents->size() : end->offset;
    sequence_.take(number_of(*begin), contents->subspan(begin->offset, to - begin->offset), now, after_silence);
    begin = end;
  }
}

void TrbReader::note_malformed() {
  if (counts_.counters[Metric::malformed]++ != 0) return;
  log::warn("{}: a datagram is damaged or not of a TRB board, and ignored; further ones are only counted", name_);
}

void TrbReader::read_event(Tick number, std::span<const std::byte> subevents) {
  read_hld_subevents(subevents, 0, event_.subevents);
  const auto& first = event_.subevents.front();
  event_.id = kTrbEventId | first.trigger();
  event_.number = options_.tdc ? first.trigger_number : static_cast<std::uint32_t>(number % sequence_.range());
}

void TrbReader::keep(Tick number, std::span<const std::byte> subevents) {
  if (!first_) first_ = number;
  read_event(number, subevents);
  count(event_, counts_);
  options_.maker->append(event_, number + high_, ready_, defect_log_);
}

void TrbReader::miss(Tick from, Tick to) {
  if (options_.optional()) return;
  const auto numbers = (to - from).value;
  defect_log_.say(Defect::damage, [&] {
    return fmt::format("{} events are missing from number {} on", numbers, (from % sequence_.range()).value);
  });
  // An event has at least one subevent; its number of TDC times is unknown.
  const auto hits = options_.tdc ? 0 : std::min<std::uint64_t>(numbers, std::numeric_limits<std::uint32_t>::max());
  add_loss(ready_, {.before = ready_.size(),
                    .hits = static_cast<std::uint32_t>(hits),
                    .cause = DropCause::lost,
                    .leaves_hole = true});
}

void TrbReader::restart() {
  defect_log_.say(Defect::era, [] {
    return std::string("event numbers start again; those that follow have the next values free after a wrap");
  });
  add_loss(ready_, {.before = ready_.size(), .cause = DropCause::lost, .leaves_hole = true});
}

void TrbReader::leave_out(std::span<const std::byte> subevents) {
  read_event(0, subevents);
  count(event_, counts_);
  const auto before = ready_.size();
  options_.maker->append(event_, 0, ready_, defect_log_);
  take_back_hits(ready_, before, ready_.losses.size(), {.cause = DropCause::out_of_step});
  defect_log_.say(Defect::number, [this] {
    return fmt::format("an event of number {} is dropped: it fits no other", number_of(event_.subevents.front()));
  });
}

std::optional<Tick> TrbReader::holds_back() const {
  if (!sequence_.placed() || (begun_ && !sequence_.holds())) return std::nullopt;
  return sequence_.newest() + high_;
}

std::optional<Tick> TrbReader::held_from() const { return begun_ ? std::nullopt : first_; }

SourceCounts TrbReader::counts() const {
  auto counts = counts_;
  counts.counters.add(sequence_.counters());
  counts.counters.add(options_.maker->counters());
  counts.counters.keep({{Metric::kernel_drops, socket_.kernel_drops()}});
  return counts;
}

}  // namespace eventloom
