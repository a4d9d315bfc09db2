#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "fuzz_input.hpp"
#include "io/serve/mbs_server_client.hpp"
#include "io/serve/mbs_server_request.hpp"

// Bytes that clients send to an MBS server. The first byte determines how the rest is cut into pieces, and the
// protocol. For any input, all ways of cutting give the same requests, one per 12 bytes; a connection never sends more
// than was requested, and ends at the first word that is not a request.

namespace {

using namespace eventloom;

std::vector<MbsRequest> decode(std::span<const std::byte> bytes, std::size_t piece) {
  MbsRequestDecoder decoder;
  std::vector<MbsRequest> found;
  while (!bytes.empty()) {
    auto part = bytes.first(std::min(piece, bytes.size()));
    bytes = bytes.subspan(part.size());
    while (const auto request = decoder.take(part)) found.push_back(*request);
    fuzz::require(part.empty(), "all bytes are taken");
  }
  return found;
}

MbsGroupPtr group_of(std::size_t bytes, std::uint32_t events) {
  MbsGroup group;
  group.bytes.resize(bytes);
  group.events = events;
  return std::make_shared<const MbsGroup>(std::move(group));
}

/// The requests before the first one that ends a connection.
std::size_t count_wanted(const std::vector<MbsRequest>& requests) {
  std::size_t wanted = 0;
  while (wanted < requests.size() && requests[wanted] == MbsRequest::events) ++wanted;
  return wanted;
}

void talk(std::span<const std::byte> bytes, std::size_t piece, bool by_request,
          const std::vector<MbsRequest>& requests) {
  std::array<int, 2> ends{};
  fuzz::require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "there are sockets");
  const MbsServerSocket other(ends[1]);
  MbsServerClient client(MbsServerSocket(ends[0]), "fuzz", by_request, group_of(16, 0), 0);
  constexpr std::size_t kGroups = 100;
  for (std::size_t i = 0; i < kGroups; ++i) client.queue(group_of(1, 1));
  std::int64_t now = 0;
  while (!bytes.empty() && client.end() == MbsClientEnd::none) {
    const auto part = bytes.first(std::min(piece, bytes.size()));
    bytes = bytes.subspan(part.size());
    fuzz::require(write(other.fd(), part.data(), part.size()) == static_cast<ssize_t>(part.size()), "it is sent");
    if (client.reads()) client.receive(++now);
    client.send(now);
  }
  const auto wanted = count_wanted(requests);
  if (by_request) fuzz::require(client.counts().events <= wanted, "no more is sent than was asked for");
  if (client.end() != MbsClientEnd::none)
    fuzz::require(wanted < requests.size(), "only the words meant to do so end it");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::silence_log();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64U;
  const auto bytes = fuzz::bytes_of(data + 1, size - 1);
  const auto requests = decode(bytes, bytes.size() + 1);
  fuzz::require(requests.size() == bytes.size() / MbsRequestDecoder::kRequestBytes, "12 bytes are a request");
  fuzz::require(decode(bytes, piece) == requests, "how the bytes are split does not matter");
  talk(bytes, piece, data[0] >= 128, requests);
  return 0;
}
