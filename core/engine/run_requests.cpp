#include "core/engine/run_requests.hpp"

#include <csignal>
#include <cstdint>
#include <utility>

#include "core/runtime/setting.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

void RunRequests::ask(const Request& request) {
  const bool ends = !asked_.empty() && asked_.front().command >= Command::stop;
  if (ends && request.command <= asked_.front().command) return;
  if (request.command >= Command::stop) asked_.clear();
  asked_.push_back(request);
}

void RunRequests::look(SteadyTime now, int signal) {
  if (begun_ == SteadyTime{}) begun_ = now;
  if (duration_.count() > 0 && now - begun_ >= duration_ && !std::exchange(time_over_, true)) {
    ask({.command = Command::end, .cause = Cause::time});
  }
  if (signal == 0 || std::exchange(signalled_, true)) return;
  const bool asks_for_end = signal == SIGINT || signal == SIGTERM;
  ask({.command = asks_for_end ? Command::end : Command::stop,
       .cause = Cause::signal,
       .signal = static_cast<std::uint8_t>(signal)});
}

std::string cause_of(const Request& request) {
  switch (request.cause) {
    case Cause::command: break;
    case Cause::signal: return signal_name(request.signal);
    case Cause::writer: return "a full or failing disk";
    case Cause::judge: return "a failing " + name_of(Setting::filter_command);
    case Cause::time: return "the end of " + name_of(Setting::duration);
    case Cause::stop_run: return "stop-run";
    case Cause::next_run: return "next-run";
  }
  return "a command";
}

}  // namespace eventloom
