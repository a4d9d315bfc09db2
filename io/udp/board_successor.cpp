#include "io/udp/board_successor.hpp"

namespace eventloom {

BoardSuccessor::End BoardSuccessor::judge_end(const Datagram& end, std::int64_t now_ns) {
  if (!has_data_) return End::refused;
  if (end.header.session == former_) return End::believed;
  const auto since = end_ ? end_->since_ns : now_ns;
  end_ = DueEnd{end.header, {end.contents.begin(), end.contents.end()}, since};
  return End::waits;
}

}  // namespace eventloom
