#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace eventloom::test {

/// A call that can be suspended and continued, on its own stack. All fibers belong to one thread. Exceptions may be in
/// flight in several of them.
class Fiber {
 public:
  /// The code that is running: the thread itself, which needs no new stack.
  Fiber() = default;
  /// Begins with the first switch_to(). `work` must not return: it ends with end_in().
  explicit Fiber(std::function<void()> work);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Switches from this fiber, which must be running, to `next`; returns when another one switches back.
  void switch_to(Fiber& next);
  /// Switches to `next` for the last time and never returns.
  [[noreturn]] void end_in(Fiber& next);

 private:
  /// The C++ runtime's state per thread: the caught exceptions, and the number of uncaught ones.
  struct Exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  };

  static void begin(unsigned int high, unsigned int low);
  /// `fake_stack`: where the address sanitizer may save this fiber's state; null if the fiber has ended.
  void leave_for(Fiber& next, void** fake_stack);
  void arrive();

  ucontext_t context_{};
  std::unique_ptr<std::byte[]> stack_;
  std::function<void()> work_;
  Exceptions exceptions_;
  void* fake_stack_ = nullptr;          ///< of the address sanitizer
  const void* stack_bottom_ = nullptr;  ///< likewise
  [[maybe_unused]] std::size_t stack_bytes_ = 0;
  Fiber* from_ = nullptr;
};

}  // namespace eventloom::test
