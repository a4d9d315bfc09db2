#include "app/tools/send/configure_board.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <iostream>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "app/command/safe_text.hpp"
#include "core/runtime/clock.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "formats/crc32c.hpp"
#include "io/epochs/mapped_file.hpp"
#include "io/udp/bulk_transfer.hpp"
#include "io/udp/udp_sender.hpp"

namespace eventloom {

namespace {

constexpr int kWaitMs = 2;  ///< between two readings of the clock
constexpr std::int64_t kBarEvery_ns = 200'000'000;
constexpr std::int64_t kLineEvery_ns = 5'000'000'000;
constexpr std::int64_t kBurst_ns = 2'000'000;  ///< time whose share of the bandwidth is sent at once

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string rate_text(std::uint64_t bytes, std::int64_t ns) {
  return fmt::format("{:.1f} MB/s", static_cast<double>(bytes) / std::max(seconds(ns), 1e-9) * 1e-6);
}

MappedFile opened(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw UserError("--configure: '" + path + "' is not a file that can be read");
  }
  if (std::filesystem::file_size(path, error) == 0) throw UserError("--configure: '" + path + "' is empty");
  return MappedFile(path);
}

/// How a transfer ended; the text is for standard output if the code is 0.
struct Outcome {
  int code = kExitOk;
  std::string text;
};

/// The transfer of a file to one board.
class Configuration {
 public:
  /// `file` must outlive the object; `crc`: its checksum. `bandwidth`: limit for this board.
  Configuration(const ConfigureSettings& settings, std::string to, std::span<const std::byte> file, std::uint32_t crc,
                std::uint64_t bandwidth)
      : name_(settings.file),
        to_(std::move(to)),
        file_(file),
        crc_(crc),
        bandwidth_(bandwidth),
        sender_(to_, settings.datagram_bytes),
        start_(steady_ns()),
        transfer_(file, {crc, settings.datagram_bytes, std::random_device()()}, start_) {
    sender_.may_be_refused();  // a missing receiver ends in the time-out
  }

  [[nodiscard]] bool is_over() const { return transfer_.is_over(); }
  [[nodiscard]] bool has_board() const { return transfer_.board().has_value(); }
  /// Takes what has arrived, and sends what is due.
  void turn() {
    const auto now = steady_ns();
    constexpr int kMostAnswers = 64;
    for (int i = 0; i < kMostAnswers; ++i) {
      const auto bytes = sender_.receive(room_);
      if (bytes.empty()) break;
      if (const auto datagram = read_reply(bytes)) transfer_.take(*datagram, now);
    }
    transfer_.send(now, allowance(now), [&](std::size_t bytes) { return sender_.next(bytes); });
    sender_.flush();
    if (is_over()) took_ns_ = now - start_;
  }
  void wait() const { sender_.wait(kWaitMs); }
  [[nodiscard]] std::string progress() const {
    return fmt::format("{}: {:.1f} of {:.1f} MiB ({:.0f} %), {}", to_, mebibytes(transfer_.received()),
                       mebibytes(file_.size()),
                       100.0 * static_cast<double>(transfer_.received()) / static_cast<double>(file_.size()),
                       rate_text(transfer_.received() - transfer_.had_before(), steady_ns() - start_));
  }
  /// Its exit code, and what to report.
  [[nodiscard]] Outcome outcome() const;

 private:
  [[nodiscard]] std::uint64_t allowance(std::int64_t now) const {
    if (bandwidth_ == 0) return std::numeric_limits<std::uint64_t>::max() / 2;
    const double due = static_cast<double>(bandwidth_) * seconds(now - start_ + kBurst_ns);
    return static_cast<std::uint64_t>(std::max(due - static_cast<double>(transfer_.sent_bytes()), 0.0));
  }

  static double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1U << 20); }
  [[nodiscard]] std::string figures() const;

  std::string name_;
  std::string to_;
  std::span<const std::byte> file_;
  std::uint32_t crc_;
  std::uint64_t bandwidth_;
  UdpSender sender_;
  std::int64_t start_;
  std::int64_t took_ns_ = 0;
  BulkTransfer transfer_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kMaxDatagramBytes);  ///< holds an answer
};

std::string Configuration::figures() const {
  const auto time = took_ns_;
  const std::uint64_t moved = transfer_.received() - std::min(transfer_.had_before(), transfer_.received());
  auto text = fmt::format("in {:.3f} s, {}", seconds(time), rate_text(moved, time));
  if (const auto link = sender_.link_rate(); link != 0) {
    text += fmt::format(" of the link's {:.0f} MB/s", static_cast<double>(link) * 1e-6);
  }
  if (transfer_.had_before() != 0) text += fmt::format(", {} bytes were there before", transfer_.had_before());
  if (transfer_.sent_bytes() > moved) text += fmt::format(", {} bytes sent again", transfer_.sent_bytes() - moved);
  return text;
}

Outcome Configuration::outcome() const {
  const auto left = fmt::format("after {} of {} bytes; the same command continues", transfer_.received(), file_.size());
  switch (transfer_.state()) {
    case BulkTransfer::State::opening:
    case BulkTransfer::State::sending: return {kExitStopped, to_ + ": stopped " + left};
    case BulkTransfer::State::complete:
      return {kExitOk, fmt::format("{} to {}: board {} has all {} bytes, checksum {:08x}, {}", name_, to_,
                                   *transfer_.board(), file_.size(), crc_, figures())};
    case BulkTransfer::State::wrong_checksum:
      return {kExitLosses,
              fmt::format("{}: board {} has {} bytes with another checksum than {:08x}; send the file again", to_,
                          *transfer_.board(), transfer_.received(), crc_)};
    case BulkTransfer::State::refused:
      return {kExitUsage, to_ + ": the board refuses the file: " + for_terminal(transfer_.reason())};
    case BulkTransfer::State::silent:
      if (transfer_.board()) break;
      return {kExitUsage,
              fmt::format("{}: no answer within {} s; start the board, and check the address and that it accepts files",
                          to_, BulkTransfer::kSilence_ns / 1'000'000'000)};
    default: break;
  }
  const bool silent = transfer_.state() == BulkTransfer::State::silent;
  return {kExitStopped, fmt::format("{}: board {} {} {}", to_, *transfer_.board(),
                                    silent ? "fell silent" : "makes no progress", left)};
}

/// Shows the progress of the boards now and then: a bar if there is one board and a terminal, otherwise lines.
class ProgressOfBoards {
 public:
  explicit ProgressOfBoards(std::size_t boards) : bar_(boards == 1 && isatty(STDERR_FILENO) != 0) {}
  ~ProgressOfBoards() {
    if (shown_ && bar_) std::fputs("\r\033[K", stderr);
  }
  ProgressOfBoards(const ProgressOfBoards&) = delete;
  ProgressOfBoards& operator=(const ProgressOfBoards&) = delete;

  void show(const std::deque<Configuration>& boards) {
    const auto now = steady_ns();
    if (now < next_) return;
    next_ = now + (bar_ ? kBarEvery_ns : kLineEvery_ns);
    for (const auto& board : boards) {
      if (board.is_over() || !board.has_board()) continue;
      shown_ = true;
      std::cerr << (bar_ ? "\r\033[K" : "") << board.progress() << (bar_ ? "" : "\n") << std::flush;
    }
  }

 private:
  bool bar_;
  bool shown_ = false;
  std::int64_t next_ = steady_ns() + kBarEvery_ns;
};

/// Prints how each transfer ended. Returns the exit code of all.
int report(const std::deque<Configuration>& boards) {
  int code = kExitOk;
  for (const auto& board : boards) {
    const auto outcome = board.outcome();
    if (outcome.code == kExitUsage && boards.size() == 1) throw UserError(outcome.text);
    if (outcome.code == kExitOk) {
      std::cout << outcome.text << '\n';
      continue;
    }
    log::error("{}", outcome.text);
    code = code == kExitOk ? outcome.code : std::min(code, outcome.code);
  }
  return code;
}

}  // namespace

int configure_boards(const ConfigureSettings& settings, const std::function<bool()>& stopped) {
  const auto file = opened(settings.file);
  const auto crc = crc32c(file.bytes());
  const std::uint64_t share = settings.bandwidth / settings.to.size();
  const auto bandwidth = settings.bandwidth == 0 ? 0 : std::max<std::uint64_t>(share, 1);
  std::deque<Configuration> boards;
  for (const auto& to : settings.to) boards.emplace_back(settings, to, file.bytes(), crc, bandwidth);
  {
    ProgressOfBoards progress(boards.size());
    std::size_t waits = 0;  // on one board after the other: none is left waiting for long
    while (!std::ranges::all_of(boards, &Configuration::is_over) && !stopped()) {
      for (auto& board : boards) {
        if (!board.is_over()) board.turn();
      }
      progress.show(boards);
      const auto& next = boards[waits++ % boards.size()];
      if (!next.is_over()) next.wait();
    }
  }
  return report(boards);
}

}  // namespace eventloom
