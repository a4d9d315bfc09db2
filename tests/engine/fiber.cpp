#include "fiber.hpp"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EVENTLOOM_FIBERS_TELL_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EVENTLOOM_FIBERS_TELL_SANITIZER
#endif
#ifdef EVENTLOOM_FIBERS_TELL_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace eventloom::test {

namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20;

}  // namespace

Fiber::Fiber(std::function<void()> work)
    : stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)),
      work_(std::move(work)),
      stack_bottom_(stack_.get()),
      stack_bytes_(kStackBytes) {
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  // makecontext() passes only numbers.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::begin), 2, static_cast<unsigned int>(self >> 32),
              static_cast<unsigned int>(self));
}

void Fiber::begin(unsigned int high, unsigned int low) {
  auto* self = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32) | low);
  self->arrive();
  self->work_();
  std::abort();  // it has not ended by end_in()
}

void Fiber::switch_to(Fiber& next) {
  leave_for(next, &fake_stack_);
  arrive();
}

void Fiber::end_in(Fiber& next) {
  leave_for(next, nullptr);
  std::abort();
}

void Fiber::leave_for(Fiber& next, [[maybe_unused]] void** fake_stack) {
  auto* const globals = abi::__cxa_get_globals();
  std::memcpy(static_cast<void*>(&exceptions_), globals, sizeof exceptions_);
  std::memcpy(static_cast<void*>(globals), &next.exceptions_, sizeof exceptions_);
  next.from_ = this;
#ifdef EVENTLOOM_FIBERS_TELL_SANITIZER
  __sanitizer_start_switch_fiber(fake_stack, next.stack_bottom_, next.stack_bytes_);
#endif
  swapcontext(&context_, &next.context_);
}

void Fiber::arrive() {
#ifdef EVENTLOOM_FIBERS_TELL_SANITIZER
  // The first fiber switched from reveals the bounds of the thread's stack.
  __sanitizer_finish_switch_fiber(fake_stack_, &from_->stack_bottom_, &from_->stack_bytes_);
#endif
}

}  // namespace eventloom::test
