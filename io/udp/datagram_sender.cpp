#include "io/udp/datagram_sender.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>

#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "io/udp/udp_address.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kAnnounceEveryNs = 1'000'000'000;
constexpr std::size_t kBatch = 64;               ///< datagrams per system call
constexpr std::size_t kBatchBytes = 256U << 10;  ///< total size of these, at least one datagram

/// The socket; the caller closes it.
int connected(const std::string& place) {
  const auto address = resolve_udp(place);
  const int socket = ::socket(address.address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0) {
    return socket;
  }
  const std::string reason = std::strerror(errno);
  if (socket >= 0) ::close(socket);
  throw UserError("cannot send to '" + place + "': " + reason);
}

}  // namespace

DatagramSender::DatagramSender(const Settings& settings, const StreamHeader& header)
    : address_(settings.address),
      datagram_bytes_(settings.datagram_bytes),
      mark_after_ns_(settings.mark_after_ns),
      source_(header.source),
      session_(settings.session ? *settings.session : std::random_device()()),
      stream_(encode_datagram_stream({settings.started_ns, header}, settings.datagram_bytes)),
      socket_(connected(settings.address)),
      batch_(std::max(kBatchBytes, settings.datagram_bytes)) {}

DatagramSender::~DatagramSender() { ::close(socket_); }

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
  sent.sequence = count_.buffers;
  sent.hits_before = count_.hits;
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
  count_.buffers += 1;
  count_.hits += sent.n_hits;
}

void DatagramSender::keep_up(Epoch complete, std::int64_t now) {
  announce(now);
  const bool is_news = complete > marked_ || count_.buffers > marked_buffers_;
  if (!is_news || now - last_ < mark_after_ns_) return;
  last_ = now;
  marked_ = std::max(marked_, complete);
  marked_buffers_ = count_.buffers;
  put_mark(DatagramKind::mark, marked_);
}

void DatagramSender::end(Epoch complete, std::int64_t now) {
  if (!ending_) announce(now);
  ending_ = true;  // a receiver that has got it may be gone
  last_ = now;
  marked_ = std::max(marked_, complete);
  put_mark(DatagramKind::end, marked_);
}

void DatagramSender::put_mark(DatagramKind kind, Epoch complete) {
  const DatagramMark mark{complete, count_.hits};
  put({.kind = kind, .sequence = count_.buffers}, std::as_bytes(std::span(&mark, 1)));
}

void DatagramSender::put(DatagramHeader header, std::span<const std::byte> contents) {
  if (waiting_.size() == kBatch || batch_used_ + sizeof header + contents.size() > batch_.size()) flush();
  header.source = source_;
  header.session = session_;
  const auto datagram = compose_datagram(header, contents, std::span(batch_).subspan(batch_used_));
  waiting_.push_back(datagram);
  batch_used_ += datagram.size();
  count_.datagrams += 1;
  count_.bytes += datagram.size();
}

void DatagramSender::flush() {
  for (std::size_t sent = 0; sent < waiting_.size();) sent += send_some(sent);
  waiting_.clear();
  batch_used_ = 0;
}

/// Returns how many of the datagrams from `first` on were sent.
std::size_t DatagramSender::send_some(std::size_t first) {
  std::array<iovec, kBatch> pieces{};
  std::array<mmsghdr, kBatch> messages{};
  const std::size_t n = waiting_.size() - first;
  for (std::size_t i = 0; i < n; ++i) {
    const auto datagram = waiting_[first + i];
    pieces[i] = {datagram.data(), datagram.size()};
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const int sent = ::sendmmsg(socket_, messages.data(), static_cast<unsigned>(n), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  return take_error(errno);
}

/// Returns when sending may continue, and the number of datagrams that need not be retried.
std::size_t DatagramSender::take_error(int error) {
  switch (error) {
    case EINTR: return 0;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
      if (count_.refused++ == 0 && !ending_) {
        spdlog::warn("{}: {}; data are lost as long as nobody listens there", address_, std::strerror(error));
      }
      // An earlier datagram was refused; without a route this one cannot be sent.
      return error == ECONNREFUSED ? 0 : 1;
    case EAGAIN:
    case ENOBUFS: {
      constexpr int kMilliseconds = 1;  // ENOBUFS: the socket has room, but the network has not
      ++count_.full;
      pollfd ready{socket_, static_cast<short>(error == EAGAIN ? POLLOUT : 0), 0};
      ::poll(&ready, 1, kMilliseconds);
      return 0;
    }
    default: throw UserError(address_ + ": cannot send: " + std::strerror(error));
  }
}

}  // namespace eventloom
