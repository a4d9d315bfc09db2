#include "app/tools/bench/zmq_duplex.hpp"

#include "app/tools/bench/host_address.hpp"

namespace eventloom {

namespace {

constexpr std::uint32_t kQueued = 64;

}  // namespace

ZmqDuplex::ZmqDuplex(const Communicator& communicator, const DuplexSettings& settings, bool over_tcp)
    : Duplex(settings.wait) {
  const bool one_host = on_one_host(communicator);
  if (settings.other) pull_.emplace(context_, ZMQ_PULL, kQueued);
  const auto endpoints = communicator.all_gather(pull_ ? pull_->bind(over_tcp, one_host) : std::string());
  if (!settings.other) return;
  push_.emplace(context_, ZMQ_PUSH, kQueued).connect(endpoints[static_cast<std::size_t>(*settings.other)]);
}

}  // namespace eventloom
