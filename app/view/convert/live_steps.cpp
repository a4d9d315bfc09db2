#include "app/view/convert/live_steps.hpp"

#include <chrono>
#include <limits>
#include <thread>

namespace eventloom {

void wait_for_more() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

void begin_live(LiveStream& stream) {
  catch_stop_signals();
  while (!stream.peer().known && stop_signal() == 0) {
    if (stream.receive() == 0) wait_for_more();
  }
  stream.fix_header();
  stream.expect(std::numeric_limits<Epoch>::max());
  stream.begin({});
}

}  // namespace eventloom
