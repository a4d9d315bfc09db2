#include "app/tools/doctor/realtime_check.hpp"

#include "core/runtime/format.hpp"

namespace eventloom {

Finding realtime_finding(const RealtimeRights& rights, std::size_t ranks, std::size_t cores) {
  std::vector<std::string> possible;
  std::vector<std::string> refused;
  std::vector<std::string> limits;
  (rights.lockable ? refused : possible).emplace_back("lock all memory");
  if (rights.lockable) limits.emplace_back("memlock unlimited");
  auto danger = fifo_danger({ranks, 1, cores, rights.left_to_others});
  (rights.fifo.refused() || danger.refused() ? refused : possible).emplace_back("use SCHED_FIFO");
  if (rights.fifo.refused()) limits.emplace_back("rtprio 1");
  (ranks > cores ? refused : possible).emplace_back("bind each rank to a core");
  Finding finding{.subject = "real time"};
  finding.what = possible.empty() ? "--realtime can do nothing here" : "--realtime can " + joined(possible, ", ");
  if (refused.empty()) return finding;
  finding.level = FindingLevel::note;
  finding.meaning = "it cannot " + joined(refused, ", ");
  if (danger.refused()) finding.meaning += ": " + danger.why;
  if (!limits.empty()) {
    finding.fix = fmt::format("in /etc/security/limits.conf, for the user: {}; log in again", joined(limits, ", "));
  } else {
    finding.fix = danger.fix;
  }
  return finding;
}

Finding check_realtime(std::size_t ranks, std::size_t cores) {
  return realtime_finding({lockable_bytes(), try_fifo(), left_to_others()}, ranks, cores);
}

}  // namespace eventloom
