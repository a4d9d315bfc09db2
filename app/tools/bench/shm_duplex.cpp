#include "app/tools/bench/shm_duplex.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

#include "core/control/agreement.hpp"
#include "core/runtime/error.hpp"
#include "io/files/descriptor.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kShmCells = 8;
constexpr std::size_t kRings = 2;

[[noreturn]] void no_memory(int error) {
  throw UserError("peer shm: no shared memory: " + std::generic_category().message(error));
}

std::string new_name() {
  std::random_device random;
  return "/eventloom-bench-" + std::to_string(::getpid()) + "-" + std::to_string(random());
}

}  // namespace

// Rank 0 is one end of every duplex. The name is gone as soon as both ends have the memory.
ShmDuplex::ShmDuplex(const Communicator& communicator, const DuplexSettings& settings)
    : Duplex(settings.wait), cell_bytes_((settings.largest + kLine - 1) / kLine * kLine + kLine) {
  const bool first = communicator.rank() == 0;
  const std::string name = communicator.broadcast(first ? new_name() : std::string());
  agree(communicator, [&] {
    if (first) map(name, true);
  });
  try {
    agree(communicator, [&] {
      if (settings.other && !first) map(name, false);
    });
  } catch (...) {
    if (first) ::shm_unlink(name.c_str());
    throw;
  }
  if (first) ::shm_unlink(name.c_str());
  const bool alone = settings.other == communicator.rank();
  sending_ = first || alone ? 0 : 1;
  receiving_ = alone ? 0 : 1 - sending_;
}

ShmDuplex::~ShmDuplex() {
  if (memory_ != nullptr) ::munmap(memory_, kRings * (sizeof(Ring) + kShmCells * cell_bytes_));
}

void ShmDuplex::map(const std::string& name, bool create) {
  const auto bytes = kRings * (sizeof(Ring) + kShmCells * cell_bytes_);
  const Descriptor file(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600));
  if (!file.is_open()) no_memory(errno);
  // Reserves the memory: a write to memory that the system lacks would end the program.
  const int error = create ? ::posix_fallocate(file.number(), 0, static_cast<off_t>(bytes)) : 0;
  void* memory = error == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const int reason = error == 0 ? errno : error;
    if (create) ::shm_unlink(name.c_str());
    no_memory(reason);
  }
  memory_ = memory;
}

ShmDuplex::Ring& ShmDuplex::ring(std::size_t number) const { return static_cast<Ring*>(memory_)[number]; }

std::byte* ShmDuplex::cell(std::size_t number, std::uint64_t message) const {
  auto* cells = static_cast<std::byte*>(memory_) + kRings * sizeof(Ring);
  return cells + (number * kShmCells + message % kShmCells) * cell_bytes_;
}

bool ShmDuplex::try_send(std::span<const std::byte> message) {
  auto& to = ring(sending_);
  if (sent_ - to.released.load(std::memory_order_acquire) >= kShmCells) return false;
  auto* place = cell(sending_, sent_);
  const std::uint64_t bytes = message.size();
  std::memcpy(place, &bytes, sizeof bytes);
  std::memcpy(place + kLine, message.data(), bytes);
  to.sent.store(++sent_, std::memory_order_release);
  return true;
}

bool ShmDuplex::send_complete(std::span<const std::byte> message) {
  send(message);
  return true;
}

std::optional<std::span<const std::byte>> ShmDuplex::poll() {
  if (ring(receiving_).sent.load(std::memory_order_acquire) <= taken_) return std::nullopt;
  const auto* place = cell(receiving_, taken_);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, place, sizeof bytes);
  return std::span(place + kLine, bytes);
}

void ShmDuplex::release() { ring(receiving_).released.store(++taken_, std::memory_order_release); }

}  // namespace eventloom
