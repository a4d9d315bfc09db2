#include "io/mbs/mbs_connection.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{5000};
/// A server that sends not even an empty buffer for this long is reported as silent.
constexpr std::chrono::seconds kSilence{10};

/// A client's message of 12 bytes, padded with NUL.
std::array<std::byte, 12> request(std::string_view text) {
  std::array<std::byte, 12> bytes{};
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

}  // namespace

MbsConnection::MbsConnection(MbsAddress address, std::chrono::duration<double> reconnect, const MbsStop& stop)
    : address_(std::move(address)), reconnect_(reconnect), stop_(stop), host_(address_) {
  std::string why;
  socket_ = MbsSocket::connect(host_, stop_, why);
  if (socket_) {
    begin_connection();
    return;
  }
  if (reconnect_.count() <= 0) {
    throw UserError(address_.text + ": " + why +
                    "; start the server first (--reconnect TIME of run and convert waits for it)");
  }
  log::warn("{}: {}; searching for the server for {} s", address_.text, why, reconnect_.count());
  lost_data_ = true;
  search_for_server(true);
}

MbsConnection::~MbsConnection() {
  if (socket_ && asks_) socket_->send(request("CLOSE"));
}

MbsConnection::Step MbsConnection::next(milliseconds most) {
  for (;;) {
    std::optional<Step> step;
    switch (state_) {
      case State::ended: return Step::ended;
      case State::looking: step = look(most); break;
      case State::connected: step = receive_step(most); break;
    }
    if (step) return *step;
  }
}

std::optional<MbsConnection::Step> MbsConnection::receive_step(milliseconds most) {
  using Found = MbsDecoder::Found;
  switch (decoder_.next()) {
    case Found::nothing: return receive(most);
    case Found::handshake: return greet();
    case Found::buffer: count_buffer(); return Step::buffer;
    case Found::empty:
      ++counters_[Metric::mbs_empty_buffers];
      count_buffer();
      return Step::empty;
    case Found::disconnect: return end_connection(true, "the server has announced its end");
    case Found::garbage: return end_connection(false, decoder_.defect());
  }
  return std::nullopt;
}

std::optional<MbsConnection::Step> MbsConnection::receive(milliseconds most) {
  using Got = MbsSocket::Got;
  std::size_t n = 0;
  const auto got = socket_->receive(decoder_.room(), n, most);
  switch (got) {
    case Got::bytes:
      decoder_.took(n);
      counters_[Metric::mbs_bytes] += n;
      note_sign_of_life();
      return std::nullopt;
    case Got::nothing: watch_silence(); return Step::nothing;
    case Got::stopped: end(); return Step::ended;
    default: return break_off(got == Got::closed);
  }
}

/// Handles a connection that the peer has closed, or that is broken.
std::optional<MbsConnection::Step> MbsConnection::break_off(bool closed) {
  std::string why = closed ? "the server has closed the connection" : socket_->failure();
  const bool in_mid_buffer = decoder_.cut();
  if (!decoder_.greeted()) {
    why += " before its handshake";
  } else if (in_mid_buffer || decoder_.unread() != 0) {
    why += " in the middle of a buffer";
  }
  // A stream server that exits without reading the request after its last reply resets the connection.
  const bool in_order = (closed || asks_) && decoder_.greeted() && decoder_.unread() == 0 && !in_mid_buffer;
  const auto step = end_connection(in_order, why);
  return in_mid_buffer ? Step::buffer : step;
}

/// Gives up the connection; buffer() remains valid.
std::optional<MbsConnection::Step> MbsConnection::end_connection(bool in_order, const std::string& why) {
  const bool received_any = received_any_ || (decoder_.greeted() && Clock::now() - connected_at_ > kLongestPause);
  const bool tell = received_any || !looked_for_;
  socket_.reset();
  connected_ = false;
  lost_data_ = !in_order || (lost_data_ && !decoder_.greeted());
  if (reconnect_.count() <= 0 || stop_.stopped()) {
    log::write(in_order ? log::Level::info : log::Level::warn, "{}: {}", address_.text, why);
    end();
    return in_order ? Step::ended : Step::lost;
  }
  if (tell) {
    ++counters_[Metric::connections_lost];
    log::warn("{}: {}; searching for the server for {} s", address_.text, why, reconnect_.count());
  } else if (Clock::now() >= give_up_at()) {
    return give_up(why);
  }
  search_for_server(tell);
  return in_order || !tell ? std::nullopt : std::optional(Step::lost);
}

void MbsConnection::end() {
  state_ = State::ended;
  connected_ = false;
}

// ---------------------------------------------------------------- searching for the server

/// `restarts`: whether to restart the time limit.
void MbsConnection::search_for_server(bool restarts) {
  const auto now = Clock::now();
  if (restarts) lost_at_ = now;
  pause_ = restarts ? Clock::duration(kFirstPause) : std::min<Clock::duration>(2 * pause_, kLongestPause);
  next_try_ = std::max(now, std::min(now + pause_, give_up_at()));
  looked_for_ = true;
  state_ = State::looking;
}

MbsConnection::Clock::time_point MbsConnection::give_up_at() const {
  return lost_at_ + std::chrono::duration_cast<Clock::duration>(reconnect_);
}

std::optional<MbsConnection::Step> MbsConnection::look(milliseconds most) {
  const auto now = Clock::now();
  if (now < next_try_) {
    stop_.wait(-1, 0, std::min(most, std::chrono::ceil<milliseconds>(next_try_ - now)));
  }
  if (stop_.stopped()) {
    end();
    return Step::ended;
  }
  if (Clock::now() < next_try_) return Step::nothing;
  const bool last = Clock::now() >= give_up_at();
  std::string why;
  socket_ = MbsSocket::connect(host_, stop_, why);
  if (socket_) {
    begin_connection();
    return std::nullopt;
  }
  if (!last) {
    search_for_server(false);
    return Step::nothing;
  }
  return give_up(why);
}

MbsConnection::Step MbsConnection::give_up(const std::string& why) {
  end();
  log::warn("{}: not found within {} s: {}", address_.text, reconnect_.count(), why);
  return lost_data_ ? Step::lost : Step::ended;
}

void MbsConnection::begin_connection() {
  decoder_ = MbsDecoder(decoder_.offset());
  state_ = State::connected;
  connected_ = true;
  received_any_ = false;
  asks_ = false;
  awaited_ = 0;
  connected_at_ = heard_at_ = Clock::now();
  silence_reported_ = false;
}

/// Handles the server's handshake.
std::optional<MbsConnection::Step> MbsConnection::greet() {
  asks_ = address_.service == MbsService::stream;
  if (asks_) ask();
  lost_data_ = false;
  if (looked_for_) {
    const std::chrono::duration<double> time = Clock::now() - lost_at_;
    log::warn("{}: connected{} after {:.1f} s", address_.text, greeted_before_ ? " again" : "", time.count());
  }
  if (!std::exchange(greeted_before_, true)) return std::nullopt;
  ++counters_[Metric::reconnects];
  return Step::again;
}

// ---------------------------------------------------------------- while connected

void MbsConnection::ask() {
  socket_->send(request("GETEVT"));
  awaited_ = decoder_.handshake().buffers_per_reply();
}

void MbsConnection::count_buffer() {
  ++counters_[Metric::mbs_buffers];
  received_any_ = true;
  if (asks_ && --awaited_ == 0 && !stop_.stopped()) ask();
}

void MbsConnection::note_sign_of_life() {
  heard_at_ = Clock::now();
  if (std::exchange(silence_reported_, false)) log::info("{}: sends data again", address_.text);
}

void MbsConnection::watch_silence() {
  if (silence_reported_ || Clock::now() - heard_at_ < kSilence) return;
  silence_reported_ = true;
  log::warn("{}: has sent nothing for {} s, not even an empty buffer", address_.text, kSilence.count());
}

}  // namespace eventloom
