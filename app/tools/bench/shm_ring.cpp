#include "app/tools/bench/shm_ring.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

#include "core/runtime/error.hpp"
#include "io/files/descriptor.hpp"

namespace eventloom {

namespace {

[[noreturn]] void no_memory(int error) {
  throw UserError("peer shm: no shared memory: " + std::generic_category().message(error));
}

std::string new_name() {
  std::random_device random;
  return "/eventloom-bench-" + std::to_string(::getpid()) + "-" + std::to_string(random());
}

}  // namespace

void ShmRing::Unmap::operator()(void* memory) const { ::munmap(memory, bytes); }

ShmRing::ShmRing(Shape shape)
    : cells_(shape.cells), cell_bytes_((shape.largest + kLine - 1) / kLine * kLine + kLine), name_(new_name()) {
  map(name_, true);
}

ShmRing::ShmRing(const std::string& name, Shape shape)
    : cells_(shape.cells), cell_bytes_((shape.largest + kLine - 1) / kLine * kLine + kLine), name_(name) {
  map(name_, false);
}

ShmRing::~ShmRing() { forget_name(); }

void ShmRing::forget_name() {
  if (named_) ::shm_unlink(name_.c_str());
  named_ = false;
}

void ShmRing::map(const std::string& name, bool create) {
  const auto bytes = sizeof(Counts) + cells_ * cell_bytes_;
  const Descriptor file(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600));
  if (!file.is_open()) no_memory(errno);
  named_ = create;
  // Reserves the memory: a write to memory that the system lacks would end the program.
  const int error = create ? ::posix_fallocate(file.number(), 0, static_cast<off_t>(bytes)) : 0;
  void* memory = error == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    const int reason = error == 0 ? errno : error;
    forget_name();  // a constructor that throws runs no destructor
    no_memory(reason);
  }
  memory_ = {memory, Unmap{bytes}};
}

std::byte* ShmRing::cell(std::uint64_t message) const {
  return static_cast<std::byte*>(memory_.get()) + sizeof(Counts) + message % cells_ * cell_bytes_;
}

bool ShmRing::try_send(std::span<const std::byte> message) {
  if (sent_ - counts().released.load(std::memory_order_acquire) >= cells_) return false;
  auto* place = cell(sent_);
  const std::uint64_t bytes = message.size();
  std::memcpy(place, &bytes, sizeof bytes);
  if (bytes != 0) std::memcpy(place + kLine, message.data(), bytes);
  counts().sent.store(++sent_, std::memory_order_release);
  return true;
}

std::optional<std::span<const std::byte>> ShmRing::poll() const {
  if (counts().sent.load(std::memory_order_acquire) <= taken_) return std::nullopt;
  const auto* place = cell(taken_);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, place, sizeof bytes);
  return std::span(place + kLine, bytes);
}

void ShmRing::release() { counts().released.store(++taken_, std::memory_order_release); }

}  // namespace eventloom
