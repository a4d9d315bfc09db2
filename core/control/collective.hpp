#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace eventloom {

/// A barrier that does not block: call done() until it returns true.
class PendingBarrier {
 public:
  PendingBarrier() = default;
  PendingBarrier(const PendingBarrier&) = delete;
  PendingBarrier& operator=(const PendingBarrier&) = delete;
  /// Waits for the other ranks, unless this rank is being unwound by an exception.
  virtual ~PendingBarrier() = default;

  /// Whether all ranks have begun the barrier. Makes progress for them, too.
  virtual bool done() = 0;
};

/// Values that are sent as their bytes in memory.
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_convertible_v<T, std::string_view>;

/// The collective operations of a run, for set-up and wind-down only, not for the data path. Every member except rank()
/// and size() is collective: all ranks call the same ones, with values of the same type, in the same order. Not
/// thread-safe. Throws std::runtime_error if the ranks cannot reach each other, or together send more than 2 GiB at
/// once.
class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// The values of all ranks, by rank, on every rank.
  template <Plain T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine) const {
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_bytes(std::as_bytes(std::span(&mine, 1)), std::vector(all.size(), sizeof(T)),
                 std::as_writable_bytes(std::span(all)));
    return all;
  }
  /// Lists may have any length.
  template <Plain T>
  [[nodiscard]] std::vector<std::vector<T>> all_gather(const std::vector<T>& mine) const {
    std::vector<std::vector<T>> all;
    std::vector<std::size_t> bytes;
    for (const auto size : all_gather(mine.size())) {
      all.emplace_back(size);
      bytes.push_back(size * sizeof(T));
    }
    std::vector<std::byte> gathered(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}));
    gather_bytes(std::as_bytes(std::span(mine)), bytes, gathered);
    std::size_t at = 0;
    for (std::size_t r = 0; r < all.size(); at += bytes[r++]) {
      if (bytes[r] != 0) std::memcpy(all[r].data(), gathered.data() + at, bytes[r]);
    }
    return all;
  }
  /// Texts may have any length.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine) const;
  [[nodiscard]] std::vector<std::vector<std::string>> all_gather(const std::vector<std::string>& mine) const;

  /// The value of rank 0, on every rank.
  template <Plain T>
  [[nodiscard]] T broadcast(T mine) const {
    broadcast_bytes(std::as_writable_bytes(std::span(&mine, 1)));
    return mine;
  }
  [[nodiscard]] std::string broadcast(std::string mine) const;

  /// Whether `mine` is true on any rank.
  [[nodiscard]] bool any(bool mine) const { return max(static_cast<unsigned char>(mine)) != 0; }
  template <Plain T>
  [[nodiscard]] T max(const T& mine) const {
    return std::ranges::max(all_gather(mine));
  }
  template <Plain T>
  [[nodiscard]] T sum(const T& mine) const {
    const auto all = all_gather(mine);
    return std::accumulate(all.begin(), all.end(), T{});
  }

  [[nodiscard]] virtual std::unique_ptr<PendingBarrier> barrier() const = 0;

 private:
  /// Fills `all` with the bytes of all ranks, in order of rank; `bytes`: the size of each, known on every rank.
  virtual void gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& bytes,
                            std::span<std::byte> all) const = 0;
  /// Overwrites `data` with rank 0's data, which have the same length.
  virtual void broadcast_bytes(std::span<std::byte> data) const = 0;
};

}  // namespace eventloom
