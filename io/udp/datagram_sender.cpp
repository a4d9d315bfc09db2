#include "io/udp/datagram_sender.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kAnnounceEveryNs = 1'000'000'000;
/// A receiver requests nothing before it knows that it may: the first stream headers follow each other quickly, so that
/// the loss of one does no harm.
constexpr int kFirstAnnouncements = 3;
constexpr std::int64_t kAnnounceFirstNs = 10'000'000;
/// Time after the last request in which another may come, and the longest duration of this after the end.
constexpr std::int64_t kAskedNs = 300'000'000;
constexpr std::int64_t kLastAnswersNs = 10'000'000'000;

}  // namespace

DatagramSender::DatagramSender(const Settings& settings, const StreamHeader& header)
    : address_(settings.address),
      datagram_bytes_(settings.datagram_bytes),
      mark_after_ns_(settings.mark_after_ns),
      source_(header.source),
      session_(settings.session ? *settings.session : std::random_device()()),
      first_stream_(
          encode_datagram_stream({settings.started_ns, header, settings.resend_bytes != 0, settings.resend_bytes != 0},
                                 settings.datagram_bytes)),
      stream_(encode_datagram_stream({settings.started_ns, header, settings.resend_bytes != 0, false},
                                     settings.datagram_bytes)),
      resend_bytes_(settings.resend_bytes),
      window_(settings.resend_bytes),
      out_(settings.address, settings.datagram_bytes),
      request_(kMaxDatagramBytes) {
  if (settings.may_be_refused) out_.may_be_refused();
}

void DatagramSender::announce(std::int64_t now) {
  const bool soon = resends() && announcements_ < kFirstAnnouncements;
  if (announced_ && now - *announced_ < (soon ? kAnnounceFirstNs : kAnnounceEveryNs)) return;
  announced_ = now;
  DatagramHeader header{.kind = DatagramKind::header};
  put(header, announcements_++ < kFirstAnnouncements ? first_stream_ : stream_);
}

void DatagramSender::send(std::span<const std::byte> buffers, std::int64_t now) {
  announce(now);
  last_ = now;
  while (!buffers.empty()) {
    const auto header = read_epoch_buffer_header(buffers);
    const auto stored = buffers.first(header->stored_bytes());
    send_buffer(*header, stored);
    buffers = buffers.subspan(stored.size());
  }
}

void DatagramSender::send_buffer(const EpochBufferHeader& header, std::span<const std::byte> stored) {
  if (stored.size() > kMaxSentBufferBytes) {
    throw UserError(address_ + ": an epoch buffer of " + std::to_string(stored.size()) +
                    " bytes is too large to send; convert the recording to smaller epoch buffers");
  }
  auto sent = header;
  sent.source = source_;
  sent.sequence = buffers_;
  sent.hits_before = hits_;
  seal_header(sent);
  buffer_.assign(stored.begin(), stored.end());
  std::memcpy(buffer_.data(), &sent, sizeof sent);
  DatagramHeader datagram{.sequence = sent.sequence, .buffer_bytes = static_cast<std::uint32_t>(stored.size())};
  const std::size_t most = datagram_bytes_ - sizeof datagram;
  for (std::span<const std::byte> rest(buffer_); !rest.empty();) {
    const auto fragment = rest.first(std::min(rest.size(), most));
    const auto sent_now = put(datagram, fragment);
    if (resends()) window_.add(datagram, sent_now);
    datagram.offset += static_cast<std::uint32_t>(fragment.size());
    rest = rest.subspan(fragment.size());
  }
  buffers_ += 1;
  hits_ += sent.n_hits;
}

void DatagramSender::keep_up(Epoch complete, std::int64_t now) {
  announce(now);
  const bool is_news = complete > marked_ || buffers_ > marked_buffers_;
  if (!is_news || now - last_ < mark_after_ns_) return;
  last_ = now;
  marked_ = std::max(marked_, complete);
  marked_buffers_ = buffers_;
  put_mark(DatagramKind::mark, marked_);
}

void DatagramSender::end(Epoch complete, std::int64_t now) {
  if (!ending_) {
    announce(now);
    ending_ = now;
  }
  out_.may_be_refused();  // a receiver that has seen the end may be gone
  last_ = now;
  marked_ = std::max(marked_, complete);
  put_mark(DatagramKind::end, marked_);
}

void DatagramSender::put_mark(DatagramKind kind, Epoch complete) {
  const DatagramMark mark{complete, hits_};
  DatagramHeader header{.kind = kind, .sequence = buffers_};
  put(header, std::as_bytes(std::span(&mark, 1)));
}

void DatagramSender::answer(std::int64_t now) {
  if (!resends()) return;
  constexpr int kMostRequests = 16;  // a flood of requests must not stop the stream
  for (int i = 0; i < kMostRequests; ++i) {
    const auto bytes = out_.receive(request_);
    if (bytes.empty()) return;
    const auto request = read_reply(bytes);
    if (!request || request->header.kind != DatagramKind::request || request->header.source != source_ ||
        request->header.session != session_) {
      continue;
    }
    asked_ = now;
    for (const auto& piece : missing_pieces_of(*request)) {
      window_.select(piece, now, [&](std::span<const std::byte> datagram) { resend(datagram); });
    }
  }
}

void DatagramSender::resend(std::span<const std::byte> datagram) {
  std::ranges::copy(datagram, out_.next(datagram.size()).begin());
  ++again_;
}

bool DatagramSender::expects_requests(std::int64_t now) const {
  return asked_ && now - *asked_ < kAskedNs && (!ending_ || now - *ending_ < kLastAnswersNs);
}

std::span<const std::byte> DatagramSender::put(DatagramHeader& header, std::span<const std::byte> contents) {
  header.source = source_;
  header.session = session_;
  return compose_datagram(header, contents, out_.next(sizeof header + contents.size()));
}

}  // namespace eventloom
