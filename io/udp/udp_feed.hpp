#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/live/live_feed.hpp"
#include "io/udp/udp_port.hpp"

namespace eventloom {

/// One board of a port as a source of a run. The port lives as long as any of its feeds. The first feed of a port also
/// counts the data that belong to no board.
class UdpFeed final : public LiveFeed {
 public:
  /// `index`: position of the board in `sources=`; each board may have one feed.
  UdpFeed(std::shared_ptr<UdpPort> port, std::size_t index);
  /// The receiving thread ignores this board from then on and continues for the other feeds.
  ~UdpFeed() override;
  UdpFeed(const UdpFeed&) = delete;
  UdpFeed& operator=(const UdpFeed&) = delete;

  [[nodiscard]] StreamHeader header() const override { return board_.header().header(); }
  [[nodiscard]] bool header_known() const override { return board_.header().known(); }
  StreamHeader fix_header() override { return board_.header().fix(); }
  [[nodiscard]] const std::string& name() const override { return board_.name(); }
  [[nodiscard]] std::int64_t started_ns() const override { return board_.header().started_ns(); }
  [[nodiscard]] bool is_connected() const override { return board_.is_connected(); }

  void take(FeedBatch& batch) override { board_.queue().take(batch); }
  void stop() override { port_->stop_board(index_); }

  [[nodiscard]] std::optional<std::string> unheard() const override;
  [[nodiscard]] bool counts_hits() const override { return true; }
  [[nodiscard]] std::vector<std::string> remarks() const override;
  [[nodiscard]] std::uint64_t anomalies() const override;
  [[nodiscard]] SourceCounts counts() const override;

 private:
  std::shared_ptr<UdpPort> port_;
  std::size_t index_;
  UdpBoard& board_;
};

}  // namespace eventloom
