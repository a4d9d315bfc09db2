#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace eventloom {

/// A ring of messages in memory that two processes of a host share, in one direction: a copy, a number and a poll,
/// without MPI or checksum: the lower bound for a host. One end only sends, the other only receives. Not thread-safe.
class ShmRing {
 public:
  struct Shape {
    std::uint64_t cells = 0;    ///< messages that the ring holds
    std::uint64_t largest = 0;  ///< bytes of the largest message
  };

  /// Creates a ring. Throws UserError if there is not enough shared memory.
  explicit ShmRing(Shape shape);
  /// The other end of a ring of this shape. Throws UserError.
  ShmRing(const std::string& name, Shape shape);
  ~ShmRing();
  ShmRing(const ShmRing&) = delete;
  ShmRing& operator=(const ShmRing&) = delete;

  /// The name by which another process opens the ring.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Removes the name; processes that have opened the ring keep it.
  void forget_name();

  /// Returns false if the ring is full. A message may be empty.
  bool try_send(std::span<const std::byte> message);
  /// The next message, valid until release().
  [[nodiscard]] std::optional<std::span<const std::byte>> poll() const;
  void release();

 private:
  static constexpr std::size_t kLine = 64;
  struct Counts {
    alignas(kLine) std::atomic<std::uint64_t> sent;
    alignas(kLine) std::atomic<std::uint64_t> released;
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };

  void map(const std::string& name, bool create);
  [[nodiscard]] Counts& counts() const { return *static_cast<Counts*>(memory_.get()); }
  [[nodiscard]] std::byte* cell(std::uint64_t message) const;

  std::uint64_t cells_;
  std::size_t cell_bytes_;
  std::string name_;
  bool named_ = false;  ///< this end has to remove the name
  std::unique_ptr<void, Unmap> memory_;
  std::uint64_t sent_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace eventloom
