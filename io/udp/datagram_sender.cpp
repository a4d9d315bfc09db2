#include "io/udp/datagram_sender.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kAnnounceEveryNs = 1'000'000'000;

}  // namespace

DatagramSender::DatagramSender(const Settings& settings, const StreamHeader& header)
    : address_(settings.address),
      datagram_bytes_(settings.datagram_bytes),
      mark_after_ns_(settings.mark_after_ns),
      source_(header.source),
      session_(settings.session ? *settings.session : std::random_device()()),
      stream_(encode_datagram_stream({settings.started_ns, header}, settings.datagram_bytes)),
      out_(settings.address, settings.datagram_bytes) {}

void DatagramSender::announce(std::int64_t now) {
  if (announced_ && now - *announced_ < kAnnounceEveryNs) return;
  announced_ = now;
  put({.kind = DatagramKind::header}, stream_);
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
    put(datagram, fragment);
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
  if (!ending_) announce(now);
  ending_ = true;
  out_.may_be_refused();  // a receiver that has seen the end may be gone
  last_ = now;
  marked_ = std::max(marked_, complete);
  put_mark(DatagramKind::end, marked_);
}

void DatagramSender::put_mark(DatagramKind kind, Epoch complete) {
  const DatagramMark mark{complete, hits_};
  put({.kind = kind, .sequence = buffers_}, std::as_bytes(std::span(&mark, 1)));
}

void DatagramSender::put(DatagramHeader header, std::span<const std::byte> contents) {
  header.source = source_;
  header.session = session_;
  compose_datagram(header, contents, out_.next(sizeof header + contents.size()));
}

}  // namespace eventloom
