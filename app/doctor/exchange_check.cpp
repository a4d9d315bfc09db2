#include "app/doctor/exchange_check.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace eventloom {

namespace {

constexpr const char* kMpi = "mpi";
constexpr const char* kTransports = "transports";

/// Whether UCX_TLS names a transport that leads to other hosts. "^" excludes what follows.
bool leads_to_hosts(const std::string& transports) {
  constexpr std::array kPrefixes = {"tcp", "rc", "ud", "dc", "ib", "all", "gga", "srd"};
  if (transports.starts_with('^')) return true;
  std::istringstream in(transports);
  for (std::string name; std::getline(in, name, ',');) {
    if (std::ranges::any_of(kPrefixes, [&](const char* prefix) { return name.starts_with(prefix); })) return true;
    if (name.starts_with("mlx")) return true;
  }
  return false;
}

Finding exchange_finding(const ExchangeParts& parts) {
  Finding finding{
      .subject = kMpi,
      .what = fmt::format("{}, UCX {}; pml {}, osc {}", parts.mpi, parts.ucx, parts.backend.pml, parts.backend.osc)};
  if (parts.backend.is_ucx) return finding;
  finding.level = FindingLevel::warning;
  finding.meaning = "the exchange does not run over UCX, which it is made for";
  finding.mend = "unset OMPI_MCA_pml OMPI_MCA_osc";
  return finding;
}

}  // namespace

bool has_rdma(const std::filesystem::path& root) {
  std::error_code error;
  const std::filesystem::directory_iterator devices(root / "sys/class/infiniband", error);
  return !error && devices != std::filesystem::directory_iterator();
}

std::vector<Finding> check_exchange(const ExchangeParts& parts, std::size_t hosts, const std::filesystem::path& root) {
  Finding transports{.subject = kTransports, .what = parts.backend.transports};
  if (hosts > 1 && !leads_to_hosts(parts.backend.transports)) {
    transports.level = FindingLevel::warning;
    transports.meaning = "none of these leads to other hosts";
    transports.mend = "unset UCX_TLS";
  } else if (hosts > 1 && !has_rdma(root)) {
    transports.level = FindingLevel::note;
    transports.meaning =
        "no RDMA hardware on this host: hosts exchange over TCP; where there are several networks, name the fast one";
    transports.mend = "export UCX_NET_DEVICES=eth0";
  }
  return {exchange_finding(parts), transports};
}

std::vector<Finding> check_agreement(const std::vector<Finding>& merged) {
  if (std::ranges::count(merged, kMpi, &Finding::subject) <= 1) return {};
  Finding finding{
      .subject = kMpi, .level = FindingLevel::warning, .what = "hosts differ in MPI, UCX or its components"};
  finding.meaning = "ranks of different versions may not understand each other";
  finding.mend = "mpirun --map-by ppr:1:node eventloom --version";
  return {finding};
}

}  // namespace eventloom
