#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Protects this process from being paged out, preempted or moved. Every step may be refused by the system.
namespace eventloom {

/// Why a step was not taken; an empty `why` means that it was.
struct RealtimeRefusal {
  std::string why;
  std::string fix;  ///< the remedy in one line; may be empty
  [[nodiscard]] bool refused() const { return !why.empty(); }
};

/// Bytes that this process may lock; std::nullopt: no limit, by `ulimit -l` or CAP_IPC_LOCK.
std::optional<std::uint64_t> lockable_bytes(const std::filesystem::path& root = "/");

/// Locks all memory of this process, present and future; a page is locked when it is first touched, so that reserved
/// address space costs nothing. Refused where a limit holds: allocations beyond it would fail in the middle of a run.
RealtimeRefusal lock_all_memory();

/// The ranks of a host and what they run on.
struct FifoLoad {
  std::size_t ranks = 1;
  std::size_t threads = 1;  ///< busy threads per rank
  std::size_t cores = 1;    ///< cores that the ranks may use, together
  /// Share of the time that the kernel leaves to ordinary programs on a core whose real-time program never sleeps;
  /// std::nullopt: unknown, 0: none.
  std::optional<double> left_to_others = std::nullopt;
};

/// Why SCHED_FIFO would be dangerous: a polling thread never gives up its core to a thread of lower or equal priority.
RealtimeRefusal fifo_danger(const FifoLoad& load);

/// FifoLoad::left_to_others, from the sysctls kernel.sched_rt_runtime_us and kernel.sched_rt_period_us.
std::optional<double> left_to_others(const std::filesystem::path& root = "/");

/// Schedules the calling thread by SCHED_FIFO with priority 1: before all ordinary programs, after the kernel's
/// interrupt threads. Threads and processes that it starts are ordinary ones (SCHED_RESET_ON_FORK).
RealtimeRefusal use_fifo();

/// Whether use_fifo() would succeed. Leaves the calling thread as it was.
RealtimeRefusal try_fifo();

/// Binds the calling thread, and threads and processes that it starts, to these hardware threads.
RealtimeRefusal pin_to(const std::vector<int>& cpus);

}  // namespace eventloom
