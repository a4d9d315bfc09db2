#include "app/tools/send/configure_board.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <random>
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

/// One transfer with its file and socket.
class Configuration {
 public:
  explicit Configuration(const ConfigureSettings& settings)
      : settings_(settings),
        file_(opened(settings.file)),
        crc_(crc32c(file_.bytes())),
        sender_(settings.to, settings.datagram_bytes),
        start_(steady_ns()),
        transfer_(file_.bytes(), {crc_, settings.datagram_bytes, std::random_device()()}, start_),
        next_show_(start_ + kBarEvery_ns) {
    sender_.may_be_refused();  // a missing receiver ends in the time-out
  }

  /// Returns false if `stopped` ended it.
  bool run(const std::function<bool()>& stopped) {
    while (!transfer_.is_over() && !stopped()) turn();
    if (shows_bar_) std::fputs("\r\033[K", stderr);
    return transfer_.is_over();
  }
  [[nodiscard]] int result(bool ended) const;

 private:
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
    show(now);
    if (!transfer_.is_over()) sender_.wait(kWaitMs);
  }

  [[nodiscard]] std::uint64_t allowance(std::int64_t now) const {
    if (settings_.bandwidth == 0) return std::numeric_limits<std::uint64_t>::max() / 2;
    const double due = static_cast<double>(settings_.bandwidth) * seconds(now - start_ + kBurst_ns);
    return static_cast<std::uint64_t>(std::max(due - static_cast<double>(transfer_.sent_bytes()), 0.0));
  }

  void show(std::int64_t now) {
    if (now < next_show_ || !transfer_.board()) return;
    next_show_ = now + (on_terminal_ ? kBarEvery_ns : kLineEvery_ns);
    shows_bar_ = on_terminal_;
    const auto text =
        fmt::format("{}: {:.1f} of {:.1f} MiB ({:.0f} %), {}", settings_.to, mebibytes(transfer_.received()),
                    mebibytes(size()), 100.0 * static_cast<double>(transfer_.received()) / static_cast<double>(size()),
                    rate_text(transfer_.received() - transfer_.had_before(), now - start_));
    std::cerr << (on_terminal_ ? "\r\033[K" : "") << text << (on_terminal_ ? "" : "\n") << std::flush;
  }

  static double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1U << 20); }
  [[nodiscard]] std::uint64_t size() const { return file_.bytes().size(); }
  [[nodiscard]] std::string figures() const;

  ConfigureSettings settings_;
  MappedFile file_;
  std::uint32_t crc_;
  UdpSender sender_;
  std::int64_t start_;
  BulkTransfer transfer_;
  std::int64_t next_show_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kMaxDatagramBytes);  ///< holds an answer
  bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  bool shows_bar_ = false;
};

std::string Configuration::figures() const {
  const auto time = steady_ns() - start_;
  const std::uint64_t moved = transfer_.received() - std::min(transfer_.had_before(), transfer_.received());
  auto text = fmt::format("in {:.3f} s, {}", seconds(time), rate_text(moved, time));
  if (const auto link = sender_.link_rate(); link != 0) {
    text += fmt::format(" of the link's {:.0f} MB/s", static_cast<double>(link) * 1e-6);
  }
  if (transfer_.had_before() != 0) text += fmt::format(", {} bytes were there before", transfer_.had_before());
  if (transfer_.sent_bytes() > moved) text += fmt::format(", {} bytes sent again", transfer_.sent_bytes() - moved);
  return text;
}

int Configuration::result(bool ended) const {
  const auto left = fmt::format("after {} of {} bytes; the same command continues", transfer_.received(), size());
  if (!ended) {
    log::error("{}: stopped {}", settings_.to, left);
    return kExitStopped;
  }
  switch (transfer_.state()) {
    case BulkTransfer::State::complete:
      std::cout << fmt::format("{} to {}: board {} has all {} bytes, checksum {:08x}, {}\n", settings_.file,
                               settings_.to, *transfer_.board(), size(), crc_, figures());
      return kExitOk;
    case BulkTransfer::State::wrong_checksum:
      log::error("{}: board {} has {} bytes with another checksum than {:08x}; send the file again", settings_.to,
                 *transfer_.board(), transfer_.received(), crc_);
      return kExitLosses;
    case BulkTransfer::State::refused:
      throw UserError(settings_.to + ": the board refuses the file: " + for_terminal(transfer_.reason()));
    case BulkTransfer::State::silent:
      if (transfer_.board()) break;
      throw UserError(settings_.to + ": no answer within " + std::to_string(BulkTransfer::kSilence_ns / 1'000'000'000) +
                      " s; start the board, and check the address and that it accepts files");
    default: break;
  }
  log::error("{}: board {} {} {}", settings_.to, *transfer_.board(),
             transfer_.state() == BulkTransfer::State::silent ? "fell silent" : "makes no progress", left);
  return kExitStopped;
}

}  // namespace

int configure_board(const ConfigureSettings& settings, const std::function<bool()>& stopped) {
  Configuration configuration(settings);
  const bool ended = configuration.run(stopped);
  return configuration.result(ended);
}

}  // namespace eventloom
