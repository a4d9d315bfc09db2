// All ranks act on the same verdicts, in the same rounds, in whatever order they finish, fail or request a stop; a rank
// that does not take part is named on all others; and every message is received before the end. Exit code 0 if all
// checks pass. Nothing here depends on the speed of the ranks: each waits for the expected state, with a deadline.

#include "core/control/heartbeat.hpp"

#include <mpi.h>
#include <sched.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"
#include "core/mpi/mpi_message_channel.hpp"

namespace {

/// Messages of this rank, over all channels.
struct Messages {
  long sent = 0;
  long received = 0;
};
Messages messages;

}  // namespace

// MPI's profiling interface: called instead of MPI's own functions.
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  ++messages.sent;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  ++messages.received;
  return PMPI_Imrecv(data, count, type, message, request);
}

namespace eventloom {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr auto kDeadline = std::chrono::seconds(60);
/// For tests of healthy ranks: no rank is ever this late.
constexpr auto kNever = hours(1);

class Test {
 public:
  explicit Test(const Communicator& communicator)
      : communicator_(communicator), rank_(communicator.rank()), size_(communicator.size()) {}

  bool run() {
    for (std::uint32_t seed = 0; seed < 10; ++seed) done_in_any_order(seed);
    for (int rank = 0; rank < size_; ++rank) {
      fails(rank);
      asks_to_stop(rank);
      goes_silent({rank});
    }
    lowest_that_asks();
    sums_and_extremes();
    freezes();
    if (size_ > 2) goes_silent({1, 2});
    comes_late();
    return good_;
  }

 private:
  void check(bool good, const std::string& what) {
    if (!good) fmt::print(stderr, "rank {} of {}: {}: {}\n", rank_, size_, case_, what);
    good_ &= good;
  }

  /// One run of a heartbeat. `status` is called before each turn, `seen` with each verdict; returns after the last one.
  std::vector<Verdict> play(const std::string& name, const std::function<RankStatus(std::size_t turn)>& status,
                            const std::function<void(const Verdict&)>& seen = {}) {
    case_ = name;
    const auto before = messages;
    std::vector<Verdict> verdicts;
    {
      Heartbeat heartbeat(std::make_unique<MpiMessageChannel>(communicator_), rank_, size_, kNever, kNever);
      follow(heartbeat, status, seen, verdicts);
    }
    check_messages(before);
    check_agreement(verdicts);
    return verdicts;
  }

  void follow(Heartbeat& heartbeat, const std::function<RankStatus(std::size_t turn)>& status,
              const std::function<void(const Verdict&)>& seen, std::vector<Verdict>& verdicts) {
    const auto end = Clock::now() + kDeadline;
    for (std::size_t turn = 0;; ++turn) {
      const auto now = Clock::now();
      if (now > end) return check(false, "no last verdict");
      if (const auto verdict = heartbeat.do_work(now, status(turn))) {
        verdicts.push_back(*verdict);
        if (seen) seen(*verdict);
        if (verdict->all_done != 0 || verdict->any_failed != 0) return;
      }
      check(heartbeat.silence(now).ranks.empty(), "a healthy rank is called silent");
      sched_yield();
    }
  }

  /// Over all ranks, every message sent has been received.
  void check_messages(const Messages& before) {
    const auto sent = communicator_.sum(messages.sent - before.sent);
    const auto received = communicator_.sum(messages.received - before.received);
    check(sent == received, fmt::format("{} messages sent, {} received", sent, received));
    check(size_ == 1 || sent > 0, "ranks that do not communicate");
  }

  void check_agreement(const std::vector<Verdict>& verdicts) {
    std::string mine;
    for (const auto& v : verdicts) {
      mine += fmt::format("{} {} {} {} {} {} {} {}\n", v.begun_end, v.progress, static_cast<int>(v.request.command),
                          v.asked_by, v.all_done, v.any_failed, v.all_frozen, v.keeps_a_pace);
    }
    const auto all = communicator_.all_gather(mine);
    check(!verdicts.empty(), "no verdict");
    check(std::ranges::all_of(all, [&](const auto& text) { return text == mine; }), "verdicts differ between ranks");
  }

  /// Each rank finishes at a different turn; the last round is the one in which all have finished.
  void done_in_any_order(std::uint32_t seed) {
    std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(rank_));
    const std::size_t mine = random() % 3 == 0 ? 0 : random() % 3000;
    const auto verdicts = play(fmt::format("done in any order, seed {}", seed), [&](std::size_t turn) {
      RankStatus status;
      status.done = turn >= mine ? 1 : 0;
      return status;
    });
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      check((verdicts[i].all_done != 0) == (i + 1 == verdicts.size()), "all done before the last round");
      check(verdicts[i].any_failed == 0 && verdicts[i].request.command == Command::none,
            "a failure or a stop that no rank reported");
    }
  }

  void fails(int rank) {
    std::size_t rounds = 0;
    const auto verdicts = play(
        fmt::format("rank {} fails", rank),
        [&](std::size_t) {
          RankStatus status;
          status.done = rank != rank_ && rank_ % 2 == 0 ? 1 : 0;
          status.failed = rank == rank_ && rounds >= 3 ? 1 : 0;
          return status;
        },
        [&](const Verdict&) { ++rounds; });
    check(!verdicts.empty() && verdicts.back().any_failed != 0 && verdicts.back().all_done == 0, "no failure reported");
    check(verdicts.size() >= 4, "a failure reported before it happened");
  }

  /// Makes a request in some round, and finishes when the verdict reports it.
  void asks_to_stop(int rank) {
    std::size_t rounds = 0;
    bool reported = false;
    const auto verdicts = play(
        fmt::format("rank {} asks to stop", rank),
        [&](std::size_t) {
          RankStatus status;
          if (rank == rank_ && rounds >= 2) status.request = {Command::stop, Cause::signal, 10};
          status.done = reported ? 1 : 0;
          return status;
        },
        [&](const Verdict& verdict) {
          ++rounds;
          reported = reported || verdict.request.command != Command::none;
          const auto& request = verdict.request;
          const bool as_asked = request.command == Command::stop && request.cause == Cause::signal &&
                                request.signal == 10 && verdict.asked_by == rank;
          check(request.command == Command::none || as_asked, "not the stop that was requested");
        });
    check(reported, "the stop was not reported");
    const auto nothing = [&](std::size_t round) { return verdicts[round].request.command == Command::none; };
    check(verdicts.size() >= 3 && nothing(0) && nothing(1), "a stop reported before it was requested");
  }

  /// All ranks make a request at once, each for another reason, the last one a weaker request.
  void lowest_that_asks() {
    bool reported = false;
    play(
        "all ask to stop",
        [&](std::size_t) {
          RankStatus status;
          if (rank_ != 0 || size_ == 1) status.request = {Command::stop, Cause::signal, std::uint8_t(20 + rank_)};
          if (rank_ == 1) status.request = {Command::stop, Cause::writer};
          if (rank_ > 1 && rank_ == size_ - 1) status.request = {Command::pause, Cause::command};
          status.done = reported ? 1 : 0;
          return status;
        },
        [&](const Verdict& verdict) {
          reported = true;
          check(verdict.asked_by == (size_ > 1 ? 1 : 0), "not the lowest rank that asked");
          check(verdict.request.command == Command::stop, "not the strongest request");
          check(verdict.request.cause == (size_ > 1 ? Cause::writer : Cause::signal), "not that rank's request");
        });
  }

  void sums_and_extremes() {
    const auto mine = static_cast<std::uint64_t>(rank_ + 1);
    const auto ranks = static_cast<std::uint64_t>(size_);
    play(
        "sums and extremes",
        [&](std::size_t turn) {
          RankStatus status;
          status.begun_end = 1'000'000'000'000 * mine;
          status.progress = 7 * mine;
          status.keeps_a_pace = rank_ == size_ - 1 ? 1 : 0;
          status.done = turn > 100 ? 1 : 0;
          return status;
        },
        [&](const Verdict& verdict) {
          check(verdict.begun_end == 1'000'000'000'000 * ranks, "begun_end is not the greatest");
          check(verdict.progress == 7 * ranks * (ranks + 1) / 2, "progress is not the sum");
          check(verdict.keeps_a_pace == 1, "one rank keeps a pace, which is not reported");
        });
  }

  /// Ranks freeze one after another; all of them learn of it in the round in which the last one has frozen.
  void freezes() {
    std::size_t rounds = 0;
    bool all = false;
    play(
        "freezes",
        [&](std::size_t) {
          RankStatus status;
          status.frozen = rounds > static_cast<std::size_t>(rank_) ? 1 : 0;
          status.done = all ? 1 : 0;
          return status;
        },
        [&](const Verdict& verdict) {
          ++rounds;
          all = verdict.all_frozen != 0;
          check(all == (rounds > static_cast<std::size_t>(size_)), "frozen in another round than the last rank");
        });
  }

  /// Some ranks take no turn until all others have named them for long enough.
  void goes_silent(const std::vector<int>& silent) {
    case_ = fmt::format("rank {} goes silent", fmt::join(silent, ","));
    if (size_ == static_cast<int>(silent.size())) return;
    const auto before = messages;
    {
      Heartbeat heartbeat(std::make_unique<MpiMessageChannel>(communicator_), rank_, size_, milliseconds(40),
                          milliseconds(60));
      MpiMessageChannel aside(communicator_);
      const bool i_am = std::ranges::find(silent, rank_) != silent.end();
      one_round(heartbeat);
      if (i_am) {
        wait_to_be_named(aside, size_ - static_cast<int>(silent.size()));
      } else {
        name(heartbeat, silent);
        for (const int rank : silent) aside.send(rank, {});
      }
      end_well(heartbeat);
    }
    check_messages(before);
  }

  void one_round(Heartbeat& heartbeat) {
    const auto end = Clock::now() + kDeadline;
    while (!heartbeat.do_work(Clock::now(), {})) {
      if (Clock::now() > end) return check(false, "no first verdict");
      sched_yield();
    }
  }

  void wait_to_be_named(MpiMessageChannel& aside, int times) {
    const auto end = Clock::now() + kDeadline;
    std::vector<std::byte> nothing;
    while (times > 0) {
      if (Clock::now() > end) return check(false, "was not named by all others");
      if (aside.receive(nothing)) --times;
      sched_yield();
    }
  }

  /// Waits until the silence is ten notices old: it is named all the time, which the others continue to see.
  void name(Heartbeat& heartbeat, const std::vector<int>& silent) {
    const auto end = Clock::now() + kDeadline;
    // Rank 0 knows all silent ranks, the others the lowest.
    const auto expected = rank_ == 0 ? silent : std::vector<int>{silent.front()};
    for (;;) {
      const auto now = Clock::now();
      if (now > end) return check(false, "no silence is reported");
      check(!heartbeat.do_work(now, {}), "a verdict without the silent ranks");
      const auto silence = heartbeat.silence(now);
      if (!silence.ranks.empty()) {
        check(silence.lasts >= milliseconds(40), "silence reported too early");
        // Others may be late, too, if ranks share cores; rank 0 knows of all late ones.
        check(rank_ != 0 || std::ranges::includes(silence.ranks, silent), "rank 0 does not name the silent ranks");
        const bool known = silence.ranks == expected;
        if (known && silence.lasts > milliseconds(400)) return;
      }
      sched_yield();
    }
  }

  /// The silent ranks take part again: no rank is silent any longer, and all end together.
  void end_well(Heartbeat& heartbeat) {
    const auto end = Clock::now() + kDeadline;
    bool heard = false;
    std::vector<Verdict> verdicts;
    for (;;) {
      const auto now = Clock::now();
      if (now > end) return check(false, "no last verdict after a silence");
      RankStatus status;
      status.done = heard ? 1 : 0;
      if (const auto verdict = heartbeat.do_work(now, status)) {
        check(heartbeat.silence(now).ranks.empty(), "a silence that has ended is still reported");
        heard = true;
        verdicts.push_back(*verdict);
        if (verdict->all_done != 0) break;
      }
      sched_yield();
    }
    check_agreement(verdicts);
  }

  /// Ranks take their first turn one after another, the first rank last.
  void comes_late() {
    case_ = "comes late";
    const auto before = messages;
    {
      Heartbeat heartbeat(std::make_unique<MpiMessageChannel>(communicator_), rank_, size_, milliseconds(20),
                          milliseconds(40));
      MpiMessageChannel aside(communicator_);
      if (rank_ + 1 < size_) wait_to_be_named(aside, size_ - 1 - rank_);
      for (int rank = 0; rank < rank_; ++rank) name_first(heartbeat, aside, rank);
      end_well(heartbeat);
    }
    check_messages(before);
  }

  /// Takes turns until some rank is reported silent, then notifies `rank`.
  void name_first(Heartbeat& heartbeat, MpiMessageChannel& aside, int rank) {
    const auto end = Clock::now() + kDeadline;
    while (heartbeat.silence(Clock::now()).ranks != std::vector<int>{0}) {
      if (Clock::now() > end) return check(false, "rank 0 is not called silent");
      check(!heartbeat.do_work(Clock::now(), {}), "a verdict without rank 0");
      sched_yield();
    }
    aside.send(rank, {});
  }

  const Communicator& communicator_;
  int rank_;
  int size_;
  std::string case_;
  bool good_ = true;
};

}  // namespace
}  // namespace eventloom

int main() {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  return eventloom::Test(communicator).run() ? 0 : 1;
}
