#include "app/tools/doctor/exchange_check.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "core/mpi/environment.hpp"
#include "core/mpi/ucx_settings.hpp"
#include "core/runtime/format.hpp"

namespace eventloom {

namespace {

constexpr const char* kMpi = "mpi";
constexpr const char* kTransports = "transports";

/// Whether UCX_TLS names a transport that reaches other hosts. A leading "^" excludes the listed transports.
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

/// Returns a fix for the choice of the component. If no variable chose it, a file did, which overrides the variables
/// that the program sets.
std::string fix_of_choice(const std::vector<std::string>& variables) {
  if (variables.empty()) return "grep osc $(ompi_info --parsable --path sysconfdir | cut -d: -f3)/openmpi-mca-params*";
  return fmt::format("unset {}; or leave out --mca of mpirun", joined(variables, " "));
}

Finding exchange_finding(const ExchangeParts& parts) {
  const auto& backend = parts.backend;
  Finding finding{.subject = kMpi, .what = fmt::format("{}, UCX {}", parts.mpi, parts.ucx)};
  if (!backend.others.empty()) finding.what += "; " + backend.others;
  if (!backend.osc.empty()) finding.what += fmt::format("; pml {}, osc {}", backend.pml, backend.osc);
  if (backend.is_ucx) return finding;
  if (backend.osc.empty()) {
    finding.level = FindingLevel::note;
    finding.meaning =
        "between hosts the exchange does not run over UCX, which it is made for; it does with Open MPI, and with an "
        "MPICH built with --with-device=ch4:ucx";
    return finding;
  }
  finding.level = FindingLevel::warning;
  finding.meaning = "the exchange does not run over UCX, which it is made for";
  finding.fix = fix_of_choice(parts.variables);
  return finding;
}

/// Returns a finding if this process is in namespaces of its own, as in a rootless container.
std::vector<Finding> container_finding(const ExchangeParts& parts) {
  if (!parts.own_namespaces || parts.backend.transports.empty()) return {};
  Finding finding{.subject = "containers", .what = "ranks in namespaces of their own exchange through named files"};
  if (parts.proc_link == "n") return {finding};
  finding.level = FindingLevel::warning;
  finding.what = fmt::format("UCX_POSIX_USE_PROC_LINK is {}", parts.proc_link);
  finding.meaning = "UCX opens memory of other ranks through /proc, where ranks in other namespaces are out of reach";
  finding.fix = "unset UCX_POSIX_USE_PROC_LINK";
  return {finding};
}

}  // namespace

ExchangeParts exchange_parts() {
  ExchangeParts parts{MpiEnvironment::mpi_version(), MpiEnvironment::ucx_version(), exchange_backend()};
  for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_osc"}) {
    if (const char* value = std::getenv(name); value != nullptr && std::string(value) != "ucx") {
      parts.variables.emplace_back(name);
    }
  }
  parts.own_namespaces = in_own_namespaces();
  if (const char* value = std::getenv("UCX_POSIX_USE_PROC_LINK"); value != nullptr) parts.proc_link = value;
  return parts;
}

Finding no_mpi(const ExchangeParts& parts, const std::vector<std::string>& variables) {
  Finding finding{.subject = kMpi, .level = FindingLevel::warning};
  finding.what = fmt::format("{}, UCX {}; it does not start on this host", parts.mpi, parts.ucx);
  finding.meaning = "no run starts here; MPI has reported the reason above";
  const bool is_open_mpi = mpi_library() == MpiLibrary::open_mpi;
  finding.fix = is_open_mpi ? "ompi_info | grep ucx; ucx_info -d" : "mpiexec -n 1 hostname";
  if (!variables.empty()) finding.fix = fmt::format("unset {}", joined(variables, " "));
  return finding;
}

bool has_rdma(const std::filesystem::path& root) {
  std::error_code error;
  const std::filesystem::directory_iterator devices(root / "sys/class/infiniband", error);
  return !error && devices != std::filesystem::directory_iterator();
}

std::vector<Finding> check_exchange(const ExchangeParts& parts, std::size_t hosts, const std::filesystem::path& root) {
  const auto& names = parts.backend.transports;
  Finding transports{.subject = kTransports, .what = names.empty() ? "none of UCX" : names};
  if (hosts > 1 && !names.empty() && !leads_to_hosts(parts.backend.transports)) {
    transports.level = FindingLevel::warning;
    transports.meaning = "none of these leads to other hosts";
    transports.fix = "unset UCX_TLS";
  } else if (hosts > 1 && !names.empty() && !has_rdma(root)) {
    transports.level = FindingLevel::note;
    transports.meaning =
        "no RDMA hardware on this host: hosts exchange over TCP; where there are several networks, name the fast one";
    transports.fix = "export UCX_NET_DEVICES=eth0";
  }
  std::vector<Finding> findings = {exchange_finding(parts), transports};
  std::ranges::move(container_finding(parts), std::back_inserter(findings));
  return findings;
}

std::vector<Finding> check_agreement(const std::vector<Finding>& merged) {
  if (std::ranges::count(merged, kMpi, &Finding::subject) <= 1) return {};
  Finding finding{
      .subject = kMpi, .level = FindingLevel::warning, .what = "hosts differ in MPI, UCX or its components"};
  finding.meaning = "ranks of different versions may not understand each other";
  const bool is_open_mpi = mpi_library() == MpiLibrary::open_mpi;
  finding.fix = is_open_mpi ? "mpirun --map-by ppr:1:node eventloom --version" : "mpirun -ppn 1 eventloom --version";
  return {finding};
}

}  // namespace eventloom
