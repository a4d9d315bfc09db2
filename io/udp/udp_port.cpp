#include "io/udp/udp_port.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

/// Timer resolution while data are missing: a fifth of BoardStream::kPatience_ns.
constexpr int kTickMs = 10;
/// Likewise while a board is asked to resend: a quarter of the time between two requests.
constexpr int kAskingTickMs = ResendRequests::kAgain_ns / 1'000'000 / 4;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::vector<std::uint32_t> ids_in(const SourceUri& uri) {
  std::vector<std::uint32_t> ids;
  const auto list = uri.get("sources", "");
  for (std::size_t at = 0; uri.has("sources") && at <= list.size();) {
    const auto comma = std::min(list.find(',', at), list.size());
    try {
      const auto id = parse_count(std::string_view(list).substr(at, comma - at));
      if (id > std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("");
      ids.push_back(static_cast<std::uint32_t>(id));
    } catch (const std::invalid_argument&) {
      uri.refuse("'sources' must be comma-separated board ids, as in 3,5,9");
    }
    if (std::ranges::count(ids, ids.back()) > 1) {
      uri.refuse("board " + std::to_string(ids.back()) + " is named twice");
    }
    at = comma + 1;
  }
  return ids;
}

}  // namespace

UdpPortSettings UdpPortSettings::of(const SourceUri& uri, const LiveInputSettings& live) {
  constexpr std::uint64_t kMostPayload = PayloadTable::kLengthInFirstWord - 1;
  UdpPortSettings settings;
  settings.place = uri.path();
  settings.sources = ids_in(uri);
  settings.payload = PayloadTable::uniform(static_cast<std::uint8_t>(uri.get_count("payload", 0, 0, kMostPayload)));
  settings.buffer_bytes = live.buffer_bytes;
  return settings;
}

UdpPort::UdpPort(const UdpPortSettings& settings, const TimeBase& base)
    : socket_(settings.place, settings.receive_bytes),
      place_((settings.place.starts_with("//") ? "udp:" : "udp://") + settings.place),
      named_(!settings.sources.empty()),
      sources_(settings.sources) {
  const std::size_t n = std::max<std::size_t>(sources_.size(), 1);
  for (std::size_t i = 0; i < n; ++i) {
    StreamHeader assumed;
    assumed.payload = settings.payload;
    std::string name = place_;
    if (i < sources_.size()) {
      assumed.source = sources_[i];
      name += " board " + std::to_string(sources_[i]);
    }
    boards_.push_back(std::make_unique<UdpBoard>(name, base, assumed, settings.buffer_bytes));
  }
  thread_ = std::thread([this] { run(); });
}

UdpPort::~UdpPort() {
  quit_ = true;
  for (const auto& board : boards_) board->queue().stop();
  socket_.wake();
  thread_.join();
}

void UdpPort::stop_board(std::size_t index) {
  boards_[index]->ask_to_stop();
  socket_.wake();
}

void UdpPort::run() {
  while (!quit_ && !all_ended()) {
    socket_.wait(patience_ms());
    // Reads requests before emptying the socket, so that data that arrived before a request are still taken.
    std::vector<UdpBoard*> stopping;
    for (const auto& board : boards_) {
      if (board->asked_to_stop() && !board->ended()) stopping.push_back(board.get());
    }
    receive_all();
    for (auto* board : stopping) board->finish();
    hand_over();
  }
}

/// Longest time until pass_time() must be called; negative: any.
int UdpPort::patience_ms() const {
  if (std::ranges::any_of(boards_, [](const auto& board) { return board->asks(); })) return kAskingTickMs;
  return std::ranges::any_of(boards_, [](const auto& board) { return board->waiting(); }) ? kTickMs : -1;
}

/// Receives until the socket is empty, or, if a sender fills it faster, until all data present at the call are
/// received.
void UdpPort::receive_all() {
  for (std::size_t i = 0; i < UdpSocket::kTurnover && !quit_; ++i) {
    const bool full = receive_batch();
    full_batches_ = full ? full_batches_ + 1 : 0;
    // Time passes only when the socket is drained: datagrams that wait in it while this thread pauses are not late.
    if (!full || full_batches_ % UdpSocket::kTurnover == 0) pass_time();
    hand_over();
    if (!full) return;
  }
}

bool UdpPort::receive_batch() {
  const auto datagrams = socket_.receive();
  const auto now = now_ns();
  for (std::size_t i = 0; i < datagrams.size(); ++i) dispatch(datagrams[i], socket_.peer(i), now);
  kernel_drops_ = socket_.kernel_drops();
  return datagrams.size() == UdpSocket::kBatch;
}

void UdpPort::dispatch(std::span<const std::byte> bytes, const UdpPeer& from, std::int64_t now) {
  const auto datagram = read_datagram(bytes);
  if (!datagram) return note_malformed();
  if (auto* board = board_of(datagram->header)) {
    board->take(*datagram, from, now);
  } else {
    note_foreign(*datagram);
  }
}

void UdpPort::note_malformed() {
  if (malformed_++ != 0) return;
  log::warn("{}: a datagram is damaged or not in the framing of boards, and ignored; further ones are only counted",
            place_);
}

void UdpPort::note_foreign(const Datagram& datagram) {
  const auto source = datagram.header.source;
  const bool first = foreign_++ == 0;
  if (!named_) {
    if (!others_.take(datagram)) return;
    return log::warn("{}: board {} sends to this port, too, and is not in the run, as the URI names no boards", place_,
                     source);
  }
  if (!first) return;
  log::warn("{}: datagrams of board {}, which no source names, are ignored; further ones are only counted", place_,
            source);
}

Counters UdpPort::counters() const {
  Counters counters{
      {Metric::kernel_drops, kernel_drops_}, {Metric::malformed, malformed_}, {Metric::foreign, foreign_}};
  counters.add(others_.counters());
  return counters;
}

std::vector<std::string> UdpPort::remarks() const {
  const auto remark = others_.remark(first_);
  return remark.empty() ? std::vector<std::string>() : std::vector{remark};
}

std::string UdpPort::what_came() const {
  return fmt::format(
      "{} datagrams of other boards and {} that are damaged or not in the framing of boards came to its port",
      foreign_.load(), malformed_.load());
}

UdpBoard* UdpPort::board_of(const DatagramHeader& header) {
  const auto source = header.source;
  if (sources_.empty()) {
    // It refuses an end of no session.
    if (header.kind == DatagramKind::end) return boards_[0].get();
    sources_.push_back(source);
    first_ = source;
    log::info("{}: bound to board {}, the first heard", boards_[0]->name(), source);
  }
  const auto found = std::ranges::find(sources_, source);
  return found == sources_.end() ? nullptr : boards_[static_cast<std::size_t>(found - sources_.begin())].get();
}

void UdpPort::pass_time() {
  const auto now = now_ns();
  for (const auto& board : boards_) {
    board->pass_time(now);
    board->ask_again(socket_, now);
  }
}

void UdpPort::hand_over() {
  for (const auto& board : boards_) board->hand_over(boards_.size() == 1);
}

bool UdpPort::all_ended() const {
  return std::ranges::all_of(boards_, [](const auto& board) { return board->ended(); });
}

}  // namespace eventloom
