#include "app/run/filter_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "app/command/command_words.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t kPsOfNs = 1000;
constexpr int kPipeBytes = 1 << 20;
constexpr std::chrono::nanoseconds kPatienceAfterItsOutput = std::chrono::seconds(1);
constexpr std::size_t kMostSpare = 4096;  ///< answers read beyond those expected, to notice them

struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// The ends are not inherited. Larger pipes than usual are an optimisation that the system may refuse.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw UserError("--filter-command: cannot create a pipe: " + std::generic_category().message(errno));
  }
  fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void do_not_block(const Descriptor& end) { fcntl(end.number(), F_SETFL, O_NONBLOCK); }

std::string text_of(const ChildEnd& end) {
  if (end.signal != 0) return "was ended by " + signal_name(end.signal);
  return "exited with code " + std::to_string(end.exit_code);
}

}  // namespace

FilterCommand::FilterCommand(FilterCommandSettings settings, std::function<void(const std::string& why)> on_failure)
    : settings_(std::move(settings)), on_failure_(std::move(on_failure)), encoder_(settings_.format) {
  // An error of write() reveals a program that has ended.
  std::signal(SIGPIPE, SIG_IGN);
  auto input = make_pipe();
  auto answers = make_pipe();
  Program program{settings_.words};
  program.words.front() = required_program(settings_.words.front(), "--filter-command");
  program.environment = with_variables(own_environment(), {{"EVENTLOOM_WRITER", std::to_string(settings_.writer)}});
  program.input = input.read.number();
  program.output = answers.write.number();
  program.own_group = true;
  program_.emplace(program);
  input_ = std::move(input.write);
  answers_ = std::move(answers.read);
  do_not_block(input_);
  do_not_block(answers_);
  const auto header = event_batch_header(settings_.format);
  write_some(std::as_bytes(std::span(header)));  // fits the empty pipe
}

FilterCommand::~FilterCommand() {
  if (!program_) return;
  program_->kill();
  program_->wait();
}

bool FilterCommand::judge(const BuiltSlice& slice, std::size_t kind, std::span<const std::uint8_t> asked,
                          std::vector<std::uint8_t>& keep) {
  if (failed_) return false;
  const auto n = static_cast<std::size_t>(std::ranges::count(asked, 1));
  if (n == 0) return true;
  const Activity activity("waiting for the filter command");
  answered_.clear();
  if (exchange(encoder_.encode(slice, kind, asked), n)) return check_answers(slice, asked, keep);
  return fail(trouble_ + place_of(slice, asked, answered_.size()));
}

/// Writes the batch and reads at least `n_answers` bytes, interleaved. Otherwise returns false and sets `trouble_`.
bool FilterCommand::exchange(std::span<const std::byte> batch, std::size_t n_answers) {
  auto last_progress = steady_clock::now();
  while (answered_.size() < n_answers || (answered_.size() == n_answers && !batch.empty())) {
    std::array<pollfd, 2> ends = {pollfd{answers_.number(), POLLIN, 0}, pollfd{input_.number(), POLLOUT, 0}};
    const auto left = settings_.timeout - (steady_clock::now() - last_progress);
    const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    if (patience <= 0) {
      trouble_ = fmt::format("has neither read nor answered for {}; it owes an answer for ",
                             duration_text(Tick(static_cast<std::uint64_t>(settings_.timeout.count())), kPsOfNs));
      return false;
    }
    const int ready =
        poll(ends.data(), batch.empty() ? 1 : 2, static_cast<int>(std::min<std::int64_t>(patience, 1000)));
    if (ready <= 0) continue;
    const std::size_t answers_before = answered_.size();
    if (ends[0].revents != 0 && !read_some(n_answers)) {
      trouble_ = how_it_ended() + " before it had answered for ";
      return false;
    }
    const bool takes_no_more = (ends[1].revents & POLLERR) != 0;
    const std::size_t written = batch.empty() || takes_no_more ? 0 : write_some(batch);
    batch = takes_no_more ? std::span<const std::byte>() : batch.subspan(written);
    if (written != 0 || answered_.size() != answers_before) last_progress = steady_clock::now();
  }
  return true;
}

/// Returns the number of bytes that the pipe took. A closed pipe shows when the answers are read.
std::size_t FilterCommand::write_some(std::span<const std::byte> bytes) {
  const auto n = write(input_.number(), bytes.data(), bytes.size());
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

/// Returns false at the end of the answers.
bool FilterCommand::read_some(std::size_t n_answers) {
  const std::size_t had = answered_.size();
  answered_.resize(n_answers + kMostSpare);
  const auto n = read(answers_.number(), answered_.data() + had, answered_.size() - had);
  answered_.resize(had + (n > 0 ? static_cast<std::size_t>(n) : 0));
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

bool FilterCommand::check_answers(const BuiltSlice& slice, std::span<const std::uint8_t> asked,
                                  std::vector<std::uint8_t>& keep) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == 0) continue;
    const auto answer = answered_[next];
    if (answer > 1) {
      return fail(fmt::format("answered with the byte 0x{:02x} instead of 0 or 1 for ", answer) +
                  place_of(slice, asked, next));
    }
    keep[i] = answer;
    ++next;
  }
  if (next == answered_.size()) return true;
  return fail(fmt::format("answered {} bytes too many after ", answered_.size() - next) +
              place_of(slice, asked, next - 1));
}

/// Names the event of an answer: "the event at tick 17 (17ns) of slice 3".
std::string FilterCommand::place_of(const BuiltSlice& slice, std::span<const std::uint8_t> asked,
                                    std::size_t answer) const {
  std::size_t i = 0;
  for (std::size_t passed = 0; i + 1 < asked.size(); ++i) {
    if (asked[i] != 0 && passed++ == answer) break;
  }
  const auto time = slice.events.time[i];
  const auto tick_ps = settings_.format.tick_ps;
  const auto when = tick_ps == 0 ? fmt::format("event number {}", time.value)
                                 : fmt::format("the event at tick {} ({})", time.value, duration_text(time, tick_ps));
  return fmt::format("{} of slice {}", when, slice.ledger.slice);
}

/// The program has closed its output and cannot answer any more. Usually it ends at once; one that does not is killed.
std::string FilterCommand::how_it_ended() {
  input_.reset();
  const auto end = program_->wait_until(steady_clock::now() + std::min(settings_.timeout, kPatienceAfterItsOutput));
  program_.reset();
  if (!end) return "closed its standard output";
  return text_of(*end);
}

bool FilterCommand::fail(const std::string& why) {
  failed_ = true;
  if (program_) {
    program_->kill();
    program_->wait();
    program_.reset();
  }
  on_failure_(fmt::format("--filter-command: '{}' {}", settings_.words.front(), why));
  return false;
}

void FilterCommand::finish() {
  if (!program_) return;
  input_.reset();
  const auto deadline = steady_clock::now() + settings_.timeout;
  const auto end = program_->wait_until(deadline);
  program_.reset();
  answered_.clear();
  static_cast<void>(read_some(0));
  if (!answered_.empty()) {
    fail("answered for more events than it was asked about");
    return;
  }
  const auto& name = settings_.words.front();
  if (!end) {
    log::warn("--filter-command: '{}' did not end after the last event and was killed", name);
  } else if (!end->good()) {
    log::warn("--filter-command: after the last event '{}' {}", name, text_of(*end));
  }
}

}  // namespace eventloom
