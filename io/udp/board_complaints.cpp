#include "io/udp/board_complaints.hpp"

#include <spdlog/spdlog.h>

namespace eventloom {

void BoardComplaints::show(const std::string& text, bool last) const {
  spdlog::error("{}: {}{}", name_, text, last ? "; further ones of this kind are only counted" : "");
}

}  // namespace eventloom
