// Every duplex that the build has carries numbered messages of several sizes in both directions, more than fit into it
// at a time, and answers to messages whose arrival the sender waits for. Exit code 0 when all arrive whole and in
// order.
// usage: duplexes_test [NAME...]      (all, when none is named)

#include "app/tools/bench/duplexes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/control/agreement.hpp"
#include "core/mpi/communicator.hpp"
#include "core/mpi/environment.hpp"

namespace eventloom {
namespace {

// More messages than a sender may be ahead of its receiver.
constexpr std::uint64_t kMessages = 150;
constexpr std::uint64_t kMessagesOfMpi = 4500;

std::vector<std::byte> message_of(std::uint64_t number, std::size_t bytes, int sender) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(number * 7 + i * 13 + i / 256);
  if (bytes >= sizeof number) std::memcpy(message.data(), &number, sizeof number);
  message.back() = static_cast<std::byte>(sender);
  return message;
}

/// Both ends send and receive at once; a single rank is its own far end.
bool exchanges(Duplex& duplex, int rank, int other, std::size_t bytes, std::uint64_t messages) {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool good = true;
  while (sent < messages || received < messages) {
    // A message may be modified once it is sent: its buffer no longer exists then. Few messages are in flight, so that
    // the system drops no datagrams.
    const bool may = sent < messages && (!duplex.is_lossy() || sent < received + 2);
    const bool begun = may && duplex.try_send(message_of(sent, bytes, rank));
    if (begun) ++sent;
    const auto message = duplex.poll();
    if (message) {
      good &= std::ranges::equal(*message, message_of(received++, bytes, other));
      duplex.release();
    }
    if (!begun && !message) duplex.pause();
  }
  return good;
}

bool completes(Duplex& duplex, int rank, int other, std::size_t bytes) {
  bool good = true;
  for (std::uint64_t n = 0; n < 20; ++n) {
    const bool first = rank == 0;
    if (first && !duplex.send_complete(message_of(n, bytes, 0))) return n == 0;
    if (!first || other == 0) {
      good &= std::ranges::equal(duplex.receive(), message_of(n, bytes, 0));
      duplex.release();
      duplex.send(message_of(n, bytes, rank));
    }
    if (first) {
      good &= std::ranges::equal(duplex.receive(), message_of(n, bytes, other));
      duplex.release();
    }
  }
  return good;
}

bool carries(const Communicator& communicator, const std::string& name, int far) {
  const int rank = communicator.rank();
  const bool takes_part = rank == 0 || rank == far;
  const int other = rank == 0 ? far : 0;
  const bool knows = name != "udp" && !name.starts_with("zmq");
  bool good = true;
  for (const std::size_t bytes : {1UL, 8UL, 1000UL, 4095UL, 4096UL, 60'000UL}) {
    const auto duplex = make_duplex(name, communicator,
                                    {.other = takes_part ? std::optional(other) : std::nullopt,
                                     .largest = static_cast<std::uint32_t>(bytes),
                                     .wait = Wait::yield});
    const std::uint64_t messages = name == "mpi" && bytes == 8 ? kMessagesOfMpi : kMessages;
    const bool exchanged = !takes_part || exchanges(*duplex, rank, other, bytes, messages);
    const bool completed = !takes_part || !knows || completes(*duplex, rank, other, bytes);
    duplex->flush();
    meet(communicator);
    if (exchanged && completed) continue;
    std::fprintf(stderr, "%s, %zu bytes, rank %d and %d: %s\n", name.c_str(), bytes, rank, other,
                 exchanged ? "completion" : "exchange");
    good = false;
  }
  return good;
}

bool run(const Communicator& communicator, const std::vector<std::string>& names) {
  bool good = true;
  for (const auto& name : names) {
    good &= carries(communicator, name, 0);
    if (communicator.size() > 1) good &= carries(communicator, name, 1);
  }
  return good;
}

}  // namespace
}  // namespace eventloom

int main(int argc, char** argv) {
  const eventloom::MpiEnvironment environment;
  const eventloom::Communicator communicator;
  const std::vector<std::string> named(argv + 1, argv + argc);
  const auto names = named.empty() ? eventloom::with_ring(eventloom::duplex_names()) : named;
  return eventloom::run(communicator, names) ? 0 : 1;
}
