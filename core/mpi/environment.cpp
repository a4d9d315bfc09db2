#include "core/mpi/environment.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "core/mpi/check.hpp"
#include "core/mpi/departure.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "core/mpi/loaded_ucx.hpp"
#include "core/mpi/ucx_settings.hpp"
#include "core/runtime/host_name.hpp"

namespace eventloom {

namespace {

/// While searching for the GPUs of X displays, hwloc (used by MPI) connects to TCP ports 6000 to 6009, which MBS
/// servers use, and would take their first events.
void leave_displays_alone() { setenv("HWLOC_COMPONENTS", "-gl", 0); }

/// Opens MPI's tool interface, which loads Open MPI's components, and with them UCX. Returns whether it is open.
bool open_tools() {
  int of_tools = 0;
  return MPI_T_init_thread(MPI_THREAD_SINGLE, &of_tools) == MPI_SUCCESS;
}

/// Reserved for departing ranks: any other operation in flight on it would be mistaken for an answer.
MPI_Comm of_departure = MPI_COMM_NULL;

bool mpi_is_open = false;

}  // namespace

MpiEnvironment::MpiEnvironment() {
  choose_ucx(launched());
  leave_displays_alone();
  // Without a launcher, Open MPI 4.1 does not start after it, and with one rank there is nothing to adjust.
  has_tools_ = launched() && open_tools();
  adjust_ucx();
  mpi_check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &thread_level_), "MPI_Init_thread");
  has_tools_ = has_tools_ || open_tools();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto what = "MPI_Comm_dup at rank " + std::to_string(rank()) + " on " + host_name();
  mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &of_departure), what.c_str());
  mpi_is_open = true;
}

MpiEnvironment::~MpiEnvironment() {
  mpi_is_open = false;
  if (leaves_alone()) return;
  MPI_Comm_free(&of_departure);
  if (has_tools_) MPI_T_finalize();
  MPI_Finalize();
}

bool MpiEnvironment::is_open() { return mpi_is_open; }

std::string MpiEnvironment::trouble() const {
  if (thread_level_ >= MPI_THREAD_FUNNELED) return "";
  return "this MPI allows no threads beside the one that calls it (MPI_THREAD_SINGLE; eventloom needs "
         "MPI_THREAD_FUNNELED): use an MPI that was built with threads";
}

int MpiEnvironment::rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int MpiEnvironment::size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool MpiEnvironment::all_come_here(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  if (MPI_Ibarrier(of_departure, &request) != MPI_SUCCESS) return false;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

std::vector<std::string> MpiEnvironment::gather(const std::string& text) {
  constexpr std::size_t kMost = 4096;
  std::string mine(text, 0, kMost - 1);
  mine.resize(kMost);
  std::string all(rank() == 0 ? kMost * static_cast<std::size_t>(size()) : 0, '\0');
  const int n = static_cast<int>(kMost);
  if (MPI_Gather(mine.data(), n, MPI_CHAR, all.data(), n, MPI_CHAR, 0, of_departure) != MPI_SUCCESS) return {text};
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += kMost) texts.emplace_back(all.c_str() + at);
  return texts;
}

std::vector<int> MpiEnvironment::gather_codes(int code) {
  std::vector<int> codes(static_cast<std::size_t>(size()));
  if (MPI_Allgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, of_departure) != MPI_SUCCESS) return {code};
  return codes;
}

bool MpiEnvironment::launcher_combines_codes() { return mpi_library() != MpiLibrary::open_mpi; }

void MpiEnvironment::abort(int code) {
  // If MPI_Abort itself hangs, the system ends this process, and the launcher ends the others.
  constexpr unsigned kSecondsToAbort = 4;
  std::signal(SIGALRM, SIG_DFL);
  alarm(kSecondsToAbort);
  mpi_is_open = false;
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

std::string MpiEnvironment::mpi_version() {
  const auto all = library_version();
  const auto first = all.substr(0, all.find_first_of(",\n"));
  // MPICH says "MPICH Version:      5.0.2".
  const auto colon = first.find(" Version:");
  return colon == std::string::npos ? first : first.substr(0, colon) + first.substr(first.rfind(' '));
}

std::string MpiEnvironment::ucx_version() {
  if (!mpi_is_open && loaded_ucx_version_text().empty()) open_tools();
  const auto version = loaded_ucx_version_text();
  return version.empty() ? "none" : version;
}

bool launched() {
  const auto any = [](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; });
  };
  if (mpi_library() == MpiLibrary::open_mpi) return any({"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"});
  return any({"PMI_RANK", "PMIX_RANK"});
}

}  // namespace eventloom
