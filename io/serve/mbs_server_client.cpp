#include "io/serve/mbs_server_client.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace eventloom {

namespace {

/// A client with this many unanswered requests is not read until some are answered.
constexpr std::uint32_t kMaxRequests = 64;
/// Time for a client to close its end after the last data; after that, unread data are up to its system.
constexpr std::int64_t kLingerNs = 2'000'000'000;

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

MbsServerClient::MbsServerClient(MbsServerSocket socket, std::string name, bool by_request, MbsGroupPtr handshake,
                                 std::int64_t now)
    : socket_(std::move(socket)),
      name_(std::move(name)),
      by_request_(by_request),
      connected_at_(now),
      sending_(std::move(handshake)),
      taken_at_(now) {}

bool MbsServerClient::admit(std::int64_t now, std::int64_t silence) {
  if (admitted_ || end_ != MbsClientEnd::none) return false;
  if (by_request_) {
    admitted_ = requests_ > 0;
  } else if (now - connected_at_ >= silence) {
    receive(now);  // it may have sent data since the last poll
    admitted_ = end_ == MbsClientEnd::none && !decoder_.has_begun();
  }
  return admitted_;
}

void MbsServerClient::queue(MbsGroupPtr group) {
  queued_bytes_ += group->bytes.size();
  queue_.push_back(std::move(group));
}

void MbsServerClient::drop_oldest() {
  const auto& group = *queue_.front();
  queued_bytes_ -= group.bytes.size();
  counts_.dropped_events += group.events;
  counts_.dropped_buffers += group.buffers;
  queue_.pop_front();
}

std::deque<MbsGroupPtr> MbsServerClient::unsent() const {
  auto groups = queue_;
  const bool of_data = sending_ != nullptr && sending_->buffers != 0;
  if (of_data) groups.push_front(sending_);
  return groups;
}

void MbsServerClient::cut() {
  queue_.clear();
  queued_bytes_ = 0;
  finish();
}

bool MbsServerClient::reads() const { return closed_writing_ || requests_ < kMaxRequests; }
bool MbsServerClient::writes() const { return sending_ != nullptr || may_begin(); }

void MbsServerClient::receive(std::int64_t now) {
  std::array<std::byte, 4096> buffer{};
  const auto received = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (received < 0 && would_block(errno)) return;
  if (received <= 0) return hang_up(received < 0 || has_unacknowledged_data());
  std::span<const std::byte> bytes(buffer.data(), static_cast<std::size_t>(received));
  while (const auto request = decoder_.take(bytes)) {
    if (requests_ == 0 && !closed_writing_) taken_at_ = now;
    answer(*request);
    if (end_ != MbsClientEnd::none) return;
  }
}

/// Whether data are unacknowledged by the client's system: a client that has read all arrived data closes without
/// reset.
bool MbsServerClient::has_unacknowledged_data() const {
  int bytes = 0;
  if (::ioctl(fd(), SIOCOUTQ, &bytes) != 0) return false;
  return bytes > (closed_writing_ ? 1 : 0);  // the FIN counts as a byte
}

void MbsServerClient::hang_up(bool reset) {
  if (reset) take_back_reply();
  if (reset && !by_request_) {
    end_ = MbsClientEnd::unread;
  } else {
    end_ = closed_writing_ ? MbsClientEnd::served : MbsClientEnd::left;
  }
}

/// The client may not have received its last reply, which the system has accepted: it counts as unsent.
void MbsServerClient::take_back_reply() {
  if (unconfirmed_ == nullptr) return;
  counts_.events -= unconfirmed_->events;
  counts_.buffers -= unconfirmed_->buffers;
  queued_bytes_ += unconfirmed_->bytes.size();
  queue_.push_front(std::exchange(unconfirmed_, nullptr));
}

void MbsServerClient::answer(MbsRequest request) {
  if (request == MbsRequest::close) hang_up(false);
  if (request == MbsRequest::unknown) end_ = MbsClientEnd::refused;
  if (request == MbsRequest::events && by_request_) ++requests_;
  unconfirmed_ = nullptr;
}

void MbsServerClient::begin_next() {
  sending_ = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= sending_->bytes.size();
  sent_ = 0;
  if (by_request_) --requests_;
}

void MbsServerClient::send(std::int64_t now) {
  while (writes() && end_ == MbsClientEnd::none) {
    if (sending_ == nullptr) begin_next();
    const auto rest = std::span(sending_->bytes).subspan(sent_);
    const auto taken = ::send(fd(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken < 0) {
      if (!would_block(errno)) hang_up(true);
      return;
    }
    taken_at_ = now;
    sent_ += static_cast<std::size_t>(taken);
    counts_.bytes += static_cast<std::uint64_t>(taken);
    if (sent_ == sending_->bytes.size()) end_group();
  }
  if (finishing_ && !closed_writing_ && sending_ == nullptr && queue_.empty()) close_writing(now);
}

void MbsServerClient::end_group() {
  counts_.events += sending_->events;
  counts_.buffers += sending_->buffers;
  const bool of_data = sending_->buffers != 0;
  if (by_request_ && of_data && requests_ == 0) unconfirmed_ = sending_;
  sending_ = nullptr;
}

/// Shuts down only the sending side: closing the socket with an unread request would destroy data in flight.
void MbsServerClient::close_writing(std::int64_t now) {
  if (end_ != MbsClientEnd::none) return;
  closed_writing_ = true;
  taken_at_ = now;
  if (::shutdown(fd(), SHUT_WR) != 0) hang_up(true);
}

void MbsServerClient::expire(std::int64_t now, std::int64_t timeout) {
  if (end_ != MbsClientEnd::none) return;
  if (closed_writing_) {
    if (now - taken_at_ > kLingerNs) end_ = MbsClientEnd::served;
    return;
  }
  if (sending_ == nullptr && queue_.empty()) taken_at_ = now;
  if (now - taken_at_ > timeout) end_ = MbsClientEnd::timed_out;
}

}  // namespace eventloom
