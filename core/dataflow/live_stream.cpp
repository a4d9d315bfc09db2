#include "core/dataflow/live_stream.hpp"

#include "core/runtime/format.hpp"

namespace eventloom {

std::string clock_remark(std::int64_t behind_ns) {
  const double behind_s = static_cast<double>(behind_ns) * 1e-9;
  return fmt::format(
      "by its times its clock is {:.1f} s {} this host's: latencies are unknown; set the clocks, for instance "
      "by NTP or PTP",
      behind_s < 0 ? -behind_s : behind_s, behind_s < 0 ? "ahead of" : "behind");
}

}  // namespace eventloom
