// Linked into the sanitized programs alone. MPI unloads its plugins before the sanitizers look for leaks and for what
// they report; the plugins' names would then be unknown, and leaks.txt goes by names.
extern "C" int dlclose(void* /*handle*/) { return 0; }
