// For LD_PRELOAD: makes one call of the program fail on one rank of a run, as the environment variable says
//
//   EVENTLOOM_INJECT="rank=1 call=pwrite at=3 error=28"
//
// rank=N     of MPI_COMM_WORLD (0); a program without a launcher is rank 0
// call=NAME  the function that fails, one of those below: malloc, new, open, pwrite, fsync, MPI_Put, H5Dwrite ...
// at=N       which of these calls, counted from 1 (1)
// times=N    how many in a row (1); 0: all from there on, as on a full disk
// error=N    errno (5, EIO); of malloc always ENOMEM
// do=WHAT    fail; runtime_error or int: `new` throws that instead of bad_alloc; kill: the process is killed;
//            wait: the call continues only once a file exists that is named as the log plus ".go"
// site=HEX   only calls from this place in the program, an offset as in the log
// path=TEXT  only calls with a path that contains this text
// after=NAME only calls after the first one of this function
//
// EVENTLOOM_INJECT_LOG=FILE gets a line "RANK begins PID JOB" from every process (JOB: the number of the mpirun, 0
// without one), "RANK CALL SITE" for every place of the program at its first such call, and
// "RANK fails CALL SITE" when a call was made to fail. Without EVENTLOOM_INJECT calls are only logged.
//
// A place is the return address nearest to the call that lies in the program itself: calls made by a library count for
// the line that called the library. Calls of libraries on threads of their own are left alone, and so are files while
// MPI starts or ends: if the pipe that wakes its own thread fails, MPI waits for ever.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <hdf5.h>
#include <link.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

/// The program's place in memory.
struct Image {
  std::uintptr_t base = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

struct Order {
  char call[32] = "";
  char after[32] = "";
  char path[128] = "";
  char action[16] = "fail";
  std::uint64_t at = 1;
  std::uint64_t times = 1;
  std::uint64_t site = 0;
  int error = EIO;
};

bool ready = false;
Image image;
Order order;
int rank = 0;
int log_file = -1;
std::atomic<bool> armed{false};
std::atomic<bool> mpi_starts_or_ends{false};
std::atomic<std::uint64_t> calls{0};
/// Set while this library itself makes calls: they are not the program's.
__attribute__((tls_model("initial-exec"))) thread_local bool inside = false;

int note_image(dl_phdr_info* info, size_t, void*) {
  image.base = info->dlpi_addr;
  image.begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const auto at = image.base + header.p_vaddr;
    if (at < image.begin) image.begin = at;
    if (at + header.p_memsz > image.end) image.end = at + header.p_memsz;
  }
  return 1;  // the first is the program
}

void take(const char* text, const char* key, char* to, size_t room) {
  char pattern[16];
  snprintf(pattern, sizeof pattern, "%s=", key);
  for (const char* at = strstr(text, pattern); at != nullptr; at = strstr(at + 1, pattern)) {
    if (at != text && at[-1] != ' ') continue;
    at += strlen(pattern);
    const size_t n = strcspn(at, " ");
    snprintf(to, room, "%.*s", static_cast<int>(n), at);
  }
}

std::uint64_t number(const char* text, const char* key, std::uint64_t otherwise, int base = 10) {
  char value[32] = "";
  take(text, key, value, sizeof value);
  return value[0] == '\0' ? otherwise : strtoull(value, nullptr, base);
}

void take_order() {
  const char* text = getenv("EVENTLOOM_INJECT");
  if (text == nullptr || number(text, "rank", 0) != static_cast<std::uint64_t>(rank)) return;
  take(text, "call", order.call, sizeof order.call);
  take(text, "after", order.after, sizeof order.after);
  take(text, "path", order.path, sizeof order.path);
  take(text, "do", order.action, sizeof order.action);
  order.at = number(text, "at", 1);
  order.times = number(text, "times", 1);
  order.site = number(text, "site", 0, 16);
  order.error = static_cast<int>(number(text, "error", EIO));
  armed = order.after[0] == '\0';
}

void write_log(const char* what, const char* call, std::uint64_t site) {
  if (log_file < 0) return;
  char line[128];
  const int n = snprintf(line, sizeof line, "%d %s%s %llx\n", rank, what, call, static_cast<unsigned long long>(site));
  syscall(SYS_write, log_file, line, static_cast<size_t>(n));
}

void write_begin() {
  if (log_file < 0) return;
  const char* job = getenv("PMIX_NAMESPACE");
  char line[128];
  const int n = snprintf(line, sizeof line, "%d begins %d %s\n", rank, getpid(), job == nullptr ? "0" : job);
  syscall(SYS_write, log_file, line, static_cast<size_t>(n));
}

__attribute__((constructor)) void begin() {
  if (strcmp(program_invocation_short_name, "eventloom") != 0) return;
  const char* mine = getenv("OMPI_COMM_WORLD_RANK");
  rank = mine == nullptr ? 0 : atoi(mine);
  dl_iterate_phdr(note_image, nullptr);
  take_order();
  if (const char* name = getenv("EVENTLOOM_INJECT_LOG")) {
    log_file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0644));
  }
  write_begin();
  void* first[1];
  backtrace(first, 1);  // loads its library now
  ready = order.call[0] != '\0' || log_file >= 0;
}

/// Offset of the nearest return address in the program; 0: the program did not make this call.
std::uint64_t site_of_call() {
  std::array<void*, 48> frames{};
  const int n = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < n; ++i) {
    const auto at = reinterpret_cast<std::uintptr_t>(frames[static_cast<size_t>(i)]);
    if (at >= image.begin && at < image.end) return at - image.base;
  }
  return 0;
}

/// Whether the place is new. Two that share a slot of the (large) table may hide each other.
bool is_new(const char* call, std::uint64_t site) {
  static std::array<std::atomic<std::uint64_t>, 1 << 16> seen;
  std::uint64_t key = site;
  for (const char* c = call; *c != '\0'; ++c) key = key * 0x100000001b3U + static_cast<unsigned char>(*c);
  key = key * 0x9e3779b97f4a7c15U | 1U;
  return seen[key >> 48].exchange(key) != key;
}

bool is_due(const char* call, const char* path, std::uint64_t site) {
  if (strcmp(call, order.after) == 0) armed = true;
  if (strcmp(call, order.call) != 0 || !armed) return false;
  if (order.site != 0 && site != order.site) return false;
  if (order.path[0] != '\0' && (path == nullptr || strstr(path, order.path) == nullptr)) return false;
  const std::uint64_t n = ++calls;
  return n >= order.at && (order.times == 0 || n < order.at + order.times);
}

bool may_go_on() {
  char name[512];
  const char* log = getenv("EVENTLOOM_INJECT_LOG");
  snprintf(name, sizeof name, "%s.go", log == nullptr ? "" : log);
  return access(name, F_OK) == 0;
}

/// Whether this call is to fail; errno is set then.
bool fails(const char* call, const char* path = nullptr) {
  if (!ready || inside) return false;
  inside = true;
  const int before = errno;
  const std::uint64_t site = log_file >= 0 || strcmp(call, order.call) == 0 ? site_of_call() : 1;
  if (site > 1 && log_file >= 0 && is_new(call, site)) write_log("", call, site);
  const bool due = site != 0 && is_due(call, path, site);
  if (due) write_log("fails ", call, site);
  if (due && strcmp(order.action, "kill") == 0) kill(getpid(), SIGKILL);
  const bool waits = due && strcmp(order.action, "wait") == 0;
  while (waits && !may_go_on()) usleep(5000);
  errno = due ? order.error : before;
  inside = false;
  return due && !waits;
}

template <class Function>
Function* real(Function*, const char* name) {
  const bool was_inside = inside;
  inside = true;
  auto* found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  inside = was_inside;
  return found;
}

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails("new")) {
    if (strcmp(order.action, "runtime_error") == 0) throw std::runtime_error("an injected failure");
    if (strcmp(order.action, "int") == 0) throw 42;
    throw std::bad_alloc();
  }
  void* memory = alignment == 0 ? __libc_malloc(bytes) : __libc_memalign(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, std::size_t) noexcept { free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { free(memory); }

// A call that fails with -1, or that returns `failed`.
#define INJECT_AS(type, name, failed, path, parameters, arguments) \
  extern "C" type name parameters {                                \
    if (!mpi_starts_or_ends && fails(#name, path)) return failed;  \
    static auto* const next = real(&name, #name);                  \
    return next arguments;                                         \
  }
#define INJECT(type, name, parameters, arguments) INJECT_AS(type, name, -1, nullptr, parameters, arguments)
#define INJECT_MPI(name, parameters, arguments)    \
  extern "C" int MPI_##name parameters {           \
    if (fails("MPI_" #name)) return MPI_ERR_OTHER; \
    return PMPI_##name arguments;                  \
  }

extern "C" {

void* malloc(size_t bytes) noexcept { return fails("malloc") ? no_memory() : __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) noexcept { return fails("malloc") ? no_memory() : __libc_calloc(n, bytes); }
void* realloc(void* old, size_t bytes) noexcept { return fails("malloc") ? no_memory() : __libc_realloc(old, bytes); }

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails("open", path)) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails("open", path)) return -1;
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

}  // extern "C"

INJECT_AS(FILE*, fopen, nullptr, path, (const char* path, const char* mode), (path, mode))
INJECT_AS(FILE*, fopen64, nullptr, path, (const char* path, const char* mode), (path, mode))
INJECT(ssize_t, read, (int file, void* to, size_t n), (file, to, n))
INJECT(ssize_t, pread, (int file, void* to, size_t n, off_t at), (file, to, n, at))
INJECT(ssize_t, pread64, (int file, void* to, size_t n, off64_t at), (file, to, n, at))
INJECT(ssize_t, write, (int file, const void* from, size_t n), (file, from, n))
INJECT(ssize_t, writev, (int file, const iovec* from, int n), (file, from, n))
INJECT(ssize_t, pwrite, (int file, const void* from, size_t n, off_t at), (file, from, n, at))
INJECT(ssize_t, pwrite64, (int file, const void* from, size_t n, off64_t at), (file, from, n, at))
INJECT(int, sendmmsg, (int file, mmsghdr* messages, unsigned n, int flags), (file, messages, n, flags))
INJECT(int, fsync, (int file), (file))
INJECT(int, fdatasync, (int file), (file))
INJECT_AS(int, ftruncate, -1, nullptr, (int file, off_t n) noexcept, (file, n))
INJECT_AS(int, ftruncate64, -1, nullptr, (int file, off64_t n) noexcept, (file, n))
INJECT_AS(int, rename, -1, to, (const char* from, const char* to) noexcept, (from, to))
INJECT_AS(int, renameat2, -1, to, (int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept,
          (from_at, from, to_at, to, flags))
INJECT_AS(int, unlink, -1, path, (const char* path) noexcept, (path))
INJECT_AS(int, mkdir, -1, path, (const char* path, mode_t mode) noexcept, (path, mode))
INJECT_AS(void*, mmap, MAP_FAILED, nullptr,
          (void* at, size_t n, int protection, int flags, int file, off_t from) noexcept,
          (at, n, protection, flags, file, from))

// An MPI that was built without threads.
extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const bool fail = fails("MPI_Init_thread");
  mpi_starts_or_ends = true;
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  mpi_starts_or_ends = false;
  if (fail) *provided = MPI_THREAD_SINGLE;
  return code;
}
extern "C" int MPI_Finalize() {
  mpi_starts_or_ends = true;
  return PMPI_Finalize();
}
INJECT_MPI(Comm_dup, (MPI_Comm from, MPI_Comm* to), (from, to))
INJECT_MPI(Allgather,
           (const void* from, int n, MPI_Datatype type, void* to, int n_to, MPI_Datatype type_to, MPI_Comm comm),
           (from, n, type, to, n_to, type_to, comm))
INJECT_MPI(Allgatherv,
           (const void* from, int n, MPI_Datatype type, void* to, const int* n_to, const int* at, MPI_Datatype type_to,
            MPI_Comm comm),
           (from, n, type, to, n_to, at, type_to, comm))
INJECT_MPI(Bcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm))
INJECT_MPI(Barrier, (MPI_Comm comm), (comm))
INJECT_MPI(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request))
INJECT_MPI(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status))
INJECT_MPI(Isend, (const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request),
           (from, n, type, to, tag, comm, request))
INJECT_MPI(Improbe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status),
           (from, tag, comm, flag, message, status))
INJECT_MPI(Imrecv, (void* to, int n, MPI_Datatype type, MPI_Message* message, MPI_Request* request),
           (to, n, type, message, request))
INJECT_MPI(Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status), (from, tag, comm, flag, status))
INJECT_MPI(Win_allocate, (MPI_Aint n, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window),
           (n, unit, info, comm, base, window))
INJECT_MPI(Win_lock_all, (int promise, MPI_Win window), (promise, window))
INJECT_MPI(Win_sync, (MPI_Win window), (window))
INJECT_MPI(Win_flush, (int peer, MPI_Win window), (peer, window))
INJECT_MPI(Put,
           (const void* from, int n, MPI_Datatype type, int to, MPI_Aint at, int n_to, MPI_Datatype type_to,
            MPI_Win window),
           (from, n, type, to, at, n_to, type_to, window))

INJECT_AS(hid_t, H5Fcreate, -1, path, (const char* path, unsigned flags, hid_t create, hid_t access),
          (path, flags, create, access))
INJECT_AS(hid_t, H5Fopen, -1, path, (const char* path, unsigned flags, hid_t access), (path, flags, access))
INJECT(herr_t, H5Fflush, (hid_t file, H5F_scope_t scope), (file, scope))
INJECT(herr_t, H5Fclose, (hid_t file), (file))
INJECT(hid_t, H5Gcreate2, (hid_t at, const char* name, hid_t link, hid_t create, hid_t access),
       (at, name, link, create, access))
INJECT(hid_t, H5Dcreate2, (hid_t at, const char* name, hid_t type, hid_t space, hid_t link, hid_t create, hid_t access),
       (at, name, type, space, link, create, access))
INJECT(hid_t, H5Dopen2, (hid_t at, const char* name, hid_t access), (at, name, access))
INJECT(herr_t, H5Dset_extent, (hid_t set, const hsize_t* size), (set, size))
INJECT(herr_t, H5Dwrite, (hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer, const void* from),
       (set, type, memory, file, transfer, from))
INJECT(herr_t, H5Dread, (hid_t set, hid_t type, hid_t memory, hid_t file, hid_t transfer, void* to),
       (set, type, memory, file, transfer, to))
INJECT(hid_t, H5Acreate2, (hid_t at, const char* name, hid_t type, hid_t space, hid_t create, hid_t access),
       (at, name, type, space, create, access))
INJECT(herr_t, H5Awrite, (hid_t attribute, hid_t type, const void* from), (attribute, type, from))
