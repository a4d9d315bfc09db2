#pragma once

#include <zmq.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// ZeroMQ as event builders use it, in builds that have it. All errors throw std::runtime_error with ZeroMQ's text.
namespace eventloom {

/// A context with one I/O thread.
class ZmqContext {
 public:
  ZmqContext();
  // Returns once the I/O thread has released all messages.
  ~ZmqContext() { zmq_ctx_term(handle_); }
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  void* handle_;
};

/// A received message.
class ZmqMessage {
 public:
  ZmqMessage() { zmq_msg_init(&message_); }
  ~ZmqMessage() { zmq_msg_close(&message_); }
  ZmqMessage(const ZmqMessage&) = delete;
  ZmqMessage& operator=(const ZmqMessage&) = delete;

  /// Valid until the next message is received into this object.
  [[nodiscard]] std::span<const std::byte> bytes() {
    return {static_cast<const std::byte*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
  }
  [[nodiscard]] zmq_msg_t* handle() { return &message_; }

 private:
  zmq_msg_t message_;
};

/// A PUSH or PULL socket. Messages still queued at close are dropped.
class ZmqSocket {
 public:
  ZmqSocket(const ZmqContext& context, int type, std::uint32_t queue);
  ~ZmqSocket();
  ZmqSocket(ZmqSocket&& other) noexcept;
  ZmqSocket& operator=(ZmqSocket&&) = delete;

  /// Binds the socket to a place that the system chooses; returns the endpoint to which others connect. `one_host`:
  /// whether all ranks are on one host. Throws UserError if there is no network that others could reach.
  const std::string& bind(bool over_tcp, bool one_host);
  /// The result of bind().
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  void connect(const std::string& endpoint);

  /// Sends data without copying them; returns false if the queue is full. They must stay valid until the context has
  /// gone.
  bool send(std::span<const std::byte> data);
  /// Sends a copy; returns false if the queue is full.
  bool send_copy(std::span<const std::byte> data);
  /// Takes the next message; returns false if there is none.
  bool receive(ZmqMessage& message);

 private:
  bool try_send(zmq_msg_t& message);
  [[nodiscard]] bool has_room() const;

  void* handle_;
  std::string endpoint_;
};

}  // namespace eventloom
